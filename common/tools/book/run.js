// Runs the commands in the book: a form.run has a command line, and a worker runs the program of run/NAME.js, which is compiled from
// the course's C (common/tools/wasm.mk). Everything is a script or a blob, because on disk browsers refuse requests.
const programs = {}, files = {};  // sources by name; what readers dropped and programs wrote
const LINES = 5000, MARGIN = 18;  // columns of a part's name

window.program = (name, source) => { programs[name] = source; };

function load(name) {
    return new Promise((done, failed) => {
        const script = document.createElement('script');
        script.src = `${document.documentElement.dataset.content_root}_static/run/${name}.js`;
        script.onload = done;
        script.onerror = () => failed(`expected a program of this book, found ${name}`);
        programs[name] ? done() : document.head.append(script);
    });
}

// In the worker. Standard error is no terminal, so that programs print no progress; Stop shows the seconds.
function work(source, name, args, files) {
    const folders = ['.', 'build'], bytes = [];
    const Module = {
        arguments: args, thisProgram: `build/${name}`,
        print: line => postMessage({ line }),
        stderr: c => c === 10 ? postMessage({ line: new TextDecoder().decode(new Uint8Array(bytes.splice(0))) }) : bytes.push(c),
        preRun: [() => {
            Module.FS.mkdir('build');
            for (const [path, content] of Object.entries(files)) {
                Module.FS.writeFile(path, content);
                Module.FS.utime(path, 0, 0);
            }
        }],
        onExit: status => {
            const made = {};
            for (const folder of folders)
                for (const file of Module.FS.readdir(folder)) {
                    const path = folder === '.' ? file : `${folder}/${file}`, about = Module.FS.stat(path);
                    if (Module.FS.isFile(about.mode) && about.mtime > 0)
                        made[path] = Module.FS.readFile(path);
                }
            postMessage({ status, made });
        },
        onAbort: what => postMessage({ line: `stopped: ${what}`, status: 1, made: {} }),
    };
    source(Module);
}

// A printed line as HTML, the name of a part above its lines instead of in a margin.
function shown(line) {
    return line.replace(/&/g, '&amp;').replace(/</g, '&lt;')
        .replace(RegExp(`^(?!\\d\\d  )(\\S.{${MARGIN - 2}}) (?=\\S)`), (all, part) => (/  \S/.test(part) ? all : `<b>${part.trim()}</b>\n`))
        .replace(RegExp(`^ {${MARGIN}}`), '');
}

function run(form) {
    const button = form.querySelector('button'), line = form.querySelector('input').value, begun = Date.now();
    let printed = 0, worker = null;
    const [command, ...args] = (line.match(/'[^']*'|"[^"]*"|#.*|[^\s#]\S*/g) || [])
        .filter(word => word[0] !== '#').map(word => word.replace(/^(['"])(.*)\1$/, '$2'));
    const name = (command || '').replace(/^build\//, '');
    const output = form.querySelector('pre'), say = text => output.insertAdjacentHTML('beforeend', `${text}\n`);
    const seconds = setInterval(() => { button.textContent = `Stop (${Math.round((Date.now() - begun) / 1000)} s)`; }, 1000);
    const end = text => {
        worker?.terminate();
        clearInterval(seconds);
        button.textContent = 'Run';
        form.stop = null;
        form.dataset.ended = text || 'ended';
        if (text)
            say(`<i>${text}</i>`);
    };
    form.stop = () => end('stopped');
    form.raw = [];
    delete form.dataset.ended;
    button.textContent = 'Stop';
    output.textContent = '';
    output.hidden = false;
    history.replaceState(null, '', `#${form.id}=${encodeURIComponent(line)}`);
    load(name).then(() => {
        if (!form.stop)
            return;
        const source = `(${work})(${programs[name]}, ...${JSON.stringify([name, args])}, data)`;
        worker = new Worker(URL.createObjectURL(new Blob([`onmessage = ({ data }) => { ${source}; };`])));
        worker.onerror = event => end(event.message);
        worker.onmessage = ({ data }) => {
            if (data.line !== undefined) {
                form.raw.push(data.line);
                say(shown(data.line));
                if (++printed >= LINES)
                    end(`stopped after ${LINES} lines`);
            }
            if (data.status !== undefined) {
                for (const [path, content] of Object.entries(data.made))
                    keep(form, path, content);
                end(data.status ? `ended with ${data.status}` : '');
            }
        };
        worker.postMessage(files);
    }, end);
}

// Keeps a file for the commands of this page, with a link that saves it.
function keep(form, path, content) {
    files[path] = content;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([content]));
    link.download = path.replace(/.*\//, '');
    link.textContent = path;
    form.querySelector('.files').append(' ', link);
}

async function take(form, list) {
    for (const file of list)
        keep(form, file.name, new Uint8Array(await file.arrayBuffer()));
}

for (const form of document.querySelectorAll('form.run')) {
    form.innerHTML = `<input aria-label="command" autocapitalize="off" autocomplete="off" spellcheck="false"><button>Run</button>
        <label class="files">your .npy: <input type="file" multiple></label><pre hidden tabindex="0" aria-live="polite"></pre>`;
    form.querySelector('input').value = form.dataset.line;
    form.onsubmit = event => { event.preventDefault(); form.stop ? form.stop() : run(form); };
    form.querySelector('[type=file]').onchange = event => take(form, event.target.files);
    form.ondragover = event => event.preventDefault();
    form.ondrop = event => { event.preventDefault(); take(form, event.dataTransfer.files); };
    const [id, line] = location.hash.slice(1).split('=');
    if (id === form.id && line) {
        form.querySelector('input').value = decodeURIComponent(line);
        form.scrollIntoView();
    }
}
