/*
 * Tests of the tile stepper. common/tools/stepper.py appends them to copies of the page, with more
 * traces of the program. stopEarly ends at the first failure, for wrong versions.
 */
'use strict';

const verdicts = [];
let stopEarly = false;

/* `check` returns an error message, or nothing. */
async function test(name, check) {
    let wrong;
    if (stopEarly && verdicts.some(verdict => verdict.startsWith('not'))) return;
    try {
        wrong = await check();
    } catch (error) {
        wrong = String(error.stack);
    }
    verdicts.push(wrong ? `not ok - ${name}: ${wrong}` : `ok - ${name}`);
}

const traces = [...document.querySelectorAll('script.trace')];
const forEachTrace = check => {
    for (const script of traces) {
        const wrong = check(problemOf(script.dataset.problem), readTrace(script));
        if (wrong) return `${script.dataset.problem}: ${wrong}`;
    }
    return traces.length < 20 ? `only ${traces.length} traces` : '';
};

/* The first difference of two lists of numbers, "" for none; NaN matches nothing. */
function difference(got, expected) {
    if (got.length !== expected.length) return `${got.length} numbers, expected ${expected.length}`;
    const k = got.findIndex((x, n) => x !== expected[n] && !(Math.abs(x - expected[n]) <= 1e-6 * Math.max(1, Math.abs(expected[n]))));
    return k < 0 ? '' : `number ${k} is ${got[k]}, expected ${expected[k]}`;
}

/* O and lse of query i by the textbook, in double precision. */
function textbook(p, i) {
    const { Q, K, V, scale } = inputOf(p), weights = [], keys = [...Array(p.kernel === 'masks' ? i + 1 : p.N).keys()];
    for (const j of keys)
        weights.push(Math.exp(scale * Array.from({ length: p.d }, (_, k) => Q[i * p.d + k] * K[j * p.d + k]).reduce((a, b) => a + b)));
    const sum = weights.reduce((a, b) => a + b);
    return {
        O: Array.from({ length: p.d }, (_, k) => keys.reduce((o, j) => o + weights[j] / sum * V[j * p.d + k], 0)),
        lse: Math.log(sum),
    };
}

const shown = () => ['story', 'map', 'held', 'values', 'counts', 'formula', 'bars', 'source'].map(id => at(id).innerHTML).join('\n');
const press = (key, target = document.body) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const fill = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event('change')); };
const begin = name => { choose(problemOf(name), ''); goTo(0); };

/* What is shown at each step, with the button pressed to the end. */
function walkThrough() {
    goTo(0);
    const pages = [shown()];
    while (!at('next').disabled && pages.length < 1000) {
        at('next').click();
        pages.push(shown());
    }
    return pages;
}

const textOf = (x, digits) => x === -Infinity ? '−∞' : Number(x.toFixed(digits)) === 0 ? (0).toFixed(digits) : x.toFixed(digits).replace('-', '−');

async function all(stop) {
    stopEarly = stop;
    await test('the page computes what the program traced', () => forEachTrace((p, trace) => {
        const own = compute(p);
        if (own.length !== trace.tiles.length) return `${own.length} tiles, expected ${trace.tiles.length}`;
        for (const [n, t] of trace.tiles.entries()) {
            for (const name of ['i0', 'rows', 'j0', 'cols'])
                if (own[n][name] !== t[name]) return `tile ${n}: ${name} is ${own[n][name]}, expected ${t[name]}`;
            for (const name of ['S', 'P', 'm', 'l', 'O']) {
                const wrong = difference(own[n][name], t[name]);
                if (wrong) return `tile ${n}, ${name}: ${wrong}`;
            }
        }
    }));

    await test('its accesses are those of the closed forms, and those that the program counted', () => forEachTrace((p, trace) => {
        const form = closedForm(p), sums = {};
        accessesOf(p, trace.tiles).forEach(step => { for (const key in step) sums[key] = (sums[key] || 0) + step[key]; });
        for (const key in form)
            if (form[key][0] !== sums[key] || sums[key] !== trace.counted[key])
                return `${key}: ${sums[key]}, closed form ${form[key][0]}, program ${trace.counted[key]}`;
        if (total(p) !== trace.counted.all || Object.keys(form).length + 1 !== Object.keys(trace.counted).length)
            return `all: ${total(p)}, program ${trace.counted.all}`;
    }));

    await test('a tile takes as much fast memory as the program held', () => forEachTrace((p, trace) =>
        heldBy(p) === trace.held ? '' : `${heldBy(p)}, expected ${trace.held}`));

    await test('M gives the tiles that it gives the program', () => {
        const lines = document.querySelector('script.sizes').text.trim().split('\n');
        for (const line of lines) {
            const [kernel, M, d, Br, Bc] = line.split(','), size = tilesFor(Number(M), Number(d), kernel);
            if (size.Br !== Number(Br) || size.Bc !== Number(Bc)) return `${line}, but ${size.Br}, ${size.Bc}`;
        }
        return lines.length < 20 ? `only ${lines.length} lines` : '';
    });

    await test('the end is attention as in the textbook', () => forEachTrace(p => {
        choose(p, '');
        goTo(1000);
        for (let i = 0; i < p.N; i++) {
            const got = queryNow(i), right = textbook(p, i);
            const wrong = difference([...got.O, got.m + Math.log(got.l)], [...right.O, right.lse]);
            if (wrong) return `query ${i}: ${wrong}`;
        }
    }));

    await test('the weights of a row sum to 1 after every tile', () => forEachTrace(p => {
        choose(p, '');
        for (let k = 1; k <= tiles.length; k++) {
            step = k;
            for (let i = 0; i < p.N; i++) {
                const q = queryNow(i), sum = q.seen.reduce((a, [, S]) => a + Math.exp(S - q.m) / q.l, 0);
                if (q.seen.length && !(Math.abs(sum - 1) < 1e-5)) return `step ${k}, query ${i}: ${sum}`;
            }
        }
    }));

    await test('m, l, O and the accesses of the trace are shown at every step', () => forEachTrace((p, trace) => {
        choose(p, '');
        for (const [n, t] of trace.tiles.entries()) {
            goTo(n + 1);
            const rows = [...at('values').querySelectorAll('tbody tr')];
            if (rows.length !== t.rows) return `step ${n + 1}: ${rows.length} rows`;
            for (const [r, row] of rows.entries()) {
                const said = [...row.querySelectorAll('b')].map(b => b.textContent).join(' ');
                const O = [...row.lastChild.querySelectorAll('i')].map(x => x.textContent).join(' ');
                const right = t.O.slice(r * p.d, (r + 1) * p.d).map(x => textOf(x, 2)).join(' ');
                if (said !== `${textOf(t.m[r], 2)} ${textOf(t.l[r], 3)}` || O !== right) return `step ${n + 1}: ${said}; ${O}, expected ${right}`;
            }
        }
        goTo(1000);
        if (at('sum').textContent !== String(trace.counted.all)) return `sum ${at('sum').textContent}`;
    }));

    await test('a step back shows what was there before', () => forEachTrace(p => {
        choose(p, '');
        const pages = walkThrough();
        for (let k = pages.length - 2; k >= 0; k--) {
            at('back').click();
            if (shown() !== pages[k]) return `step ${k} differs`;
        }
        return at('back').disabled && new Set(pages).size === pages.length ? '' : 'two steps look alike';
    }));

    await test('keys do what the page says', () => {
        const seen = [];
        begin('1,fa1,8,4,2,2');
        for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Home', '2', 'c', 'c', 'c', '1']) {
            press(key);
            seen.push(`${problem.kernel} ${step}`);
        }
        const right = 'fa1 1,fa1 2,fa1 1,fa1 17,fa1 0,fa2 0,masks 0,fa2 0,masks 0,fa1 0';
        press('ArrowRight', at('N'));
        return seen.join() !== right ? seen.join() : step !== 0 ? 'an arrow in a field moved the tiles' : '';
    });

    await test('play goes on by itself to the end, and pause stops it', async () => {
        begin('hand,fa2,4,3,2,2');
        press(' ');
        await new Promise(done => setTimeout(done, 1500));
        const one = step, word = at('play').textContent;
        at('play').click();
        await new Promise(done => setTimeout(done, 3000));
        const paused = step;
        at('play').click();
        await new Promise(done => setTimeout(done, 8000));
        return one === 1 && word === 'pause' && paused === 1 && step === 4 && !playing ? '' : [one, word, paused, step].join();
    });

    await test('the program’s trace is shown where there is one, else the page says it computes', () => {
        begin('1,fa2,8,4,2,2');
        const theirs = trace && at('source').textContent.includes('--step fa2 --br 2 --bc 2 --trace=csv');
        fill('seed', '77');
        return theirs && !trace && at('source').textContent.includes('--seed 77') ? '' : at('source').textContent;
    });

    await test('numbers that cannot be are refused, and nothing changes', () => {
        begin('1,fa1,8,4,2,2');
        for (const [id, value] of [['N', '0'], ['N', '17'], ['N', ''], ['d', '9'], ['d', '2.5'], ['M', '0'], ['Br', '-1'], ['Bc', '1e9'], ['seed', '-3']]) {
            const before = nameOf(problem) + M;
            fill(id, value);
            if (nameOf(problem) + M !== before || !at('complaint').textContent.startsWith(`${id}: expected`))
                return `${id} = ${value}: ${at('complaint').textContent}`;
            fillControls();
        }
        return at('complaint').textContent;
    });

    await test('M follows the algorithm, and goes when tiles are chosen', () => {
        begin('1,fa1,8,4,2,2');
        fill('N', '16'), fill('d', '2'), fill('M', '64');
        const fa1 = `${problem.Br} ${problem.Bc}`;
        press('2');
        const fa2 = `${problem.Br} ${problem.Bc}`;
        fill('Br', '3');
        return fa1 === '2 8' && fa2 === '8 2' && M === '' && problem.Br === 3 ? '' : [fa1, fa2, M, problem.Br].join();
    });

    await test('nothing is wider than the window, and no number too small to read', () => {
        for (const option of at('example').options) {
            if (!option.value) continue;
            chooseExample(option.value);
            for (const kernel of ['fa1', 'fa2', 'masks']) {
                chooseKernel(kernel);
                goTo(2);
                const root = document.documentElement, svg = at('map').firstElementChild;
                const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
                const size = Math.min(...[...svg.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize)));
                if (root.scrollWidth > innerWidth) return `${option.value}, ${kernel}: ${root.scrollWidth} of ${innerWidth} pixels`;
                if (!(scale * size >= 9)) return `${option.value}, ${kernel}: ${scale * size} pixels high`;
            }
        }
    });

    await test('every control has a name and can be reached', () => {
        for (const control of document.querySelectorAll('input, select, button')) {
            const named = control.getAttribute('aria-label') || control.labels?.length || control.textContent.trim();
            if (!named || control.tabIndex < 0) return control.outerHTML;
        }
    });
}
