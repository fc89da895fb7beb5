// Sets formulas; marks table cells by length, and where long names may break; adds the stepper to the menu. On disk, browsers refuse the
// search's requests for pages to quote.
for (const math of document.querySelectorAll('.math'))
    katex.render(math.textContent, math, { displayMode: math.tagName === 'DIV', throwOnError: false });
for (const cell of document.querySelectorAll('td'))
    cell.classList.add(cell.textContent.length > 12 ? 'long' : 'short');
for (const name of document.querySelectorAll('td code .pre'))
    name.innerHTML = name.innerHTML.replace(/_|::|\//g, '$&<wbr>');
if (location.protocol === 'file:' && typeof DOCUMENTATION_OPTIONS !== 'undefined')
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
const menu = document.querySelector('.sidebar-tree ul');
if (menu)
    menu.insertAdjacentHTML('beforeend', `<li class="toctree-l1"><a class="reference internal" href="${
        document.documentElement.dataset.content_root}05_flash_tiled_cpu/pages/stepper.html">The tile stepper</a></li>`);
