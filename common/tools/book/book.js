// Formulas; in tables, which cells may be broken into lines, and where a long name may. Where the book is a folder on
// a disk, browsers do not let the search fetch pages to quote from.
for (const math of document.querySelectorAll('.math'))
    katex.render(math.textContent, math, { displayMode: math.tagName === 'DIV', throwOnError: false });
for (const cell of document.querySelectorAll('td'))
    cell.classList.add(cell.textContent.length > 12 ? 'long' : 'short');
for (const name of document.querySelectorAll('td code .pre'))
    name.innerHTML = name.innerHTML.replace(/_|::|\//g, '$&<wbr>');
if (location.protocol === 'file:' && typeof DOCUMENTATION_OPTIONS !== 'undefined')
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
