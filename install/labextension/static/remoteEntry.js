// Tells JupyterLab the language of %%cuda, %%bash and other cells in gocuda's notebooks:
// its colours and the comments of Ctrl-/ follow. Lines are indented by tabs, as gofmt has it.
// Written by hand as a container of module federation: there is nothing to build.
(globalThis._JUPYTERLAB ??= {}).gocuda = (() => {
  const CPP = 'text/x-c++src', SHELL = 'text/x-sh', HTML = 'text/html', MARKDOWN = 'text/x-markdown';
  const byMagic = { cuda: CPP, bash: SHELL, sh: SHELL, html: HTML, svg: HTML, markdown: MARKDOWN, latex: 'text/x-latex' };
  const byEnding = { cu: CPP, cuh: CPP, cpp: CPP, h: CPP, sh: SHELL, html: HTML, md: MARKDOWN, py: 'text/x-python', json: 'application/json', yaml: 'text/x-yaml', yml: 'text/x-yaml', go: 'text/x-go' };

  // typeOf is the type of a cell's text: that of the last of its first lines that are magics.
  function typeOf(source, go) {
    let type = go;
    for (const line of source.split('\n')) {
      const magic = /^%%(\w+)\s*(.*)/.exec(line);
      if (!magic) break;
      if (magic[1] === 'writefile') return byEnding[/\.(\w+)\s*$/.exec(magic[2])?.[1]] ?? 'text/plain';
      type = byMagic[magic[1]] ?? type;
    }
    return type;
  }

  function watch(model, go) {
    if (model.type !== 'code') return;
    const set = () => {
      const type = typeOf(model.sharedModel.getSource(), go);
      if (model.mimeType !== type) model.mimeType = type;
    };
    model.contentChanged.connect(set);
    model.mimeTypeChanged.connect(set); // JupyterLab gives all cells the notebook's
    set();
  }

  async function open(panel) {
    const context = panel.sessionContext;
    const seen = new WeakSet();
    const look = async () => {
      const info = await context.session?.kernel?.info;
      const cells = panel.content.model?.cells;
      if (info?.implementation !== 'gocuda' || !cells) return;
      const config = panel.content.editorConfig;
      if (config.code.indentUnit !== 'Tab') {
        panel.content.editorConfig = { ...config, code: { ...config.code, indentUnit: 'Tab' } };
      }
      const all = () => {
        for (let i = 0; i < cells.length; i++) {
          const model = cells.get(i);
          if (!seen.has(model)) {
            seen.add(model);
            watch(model, info.language_info.mimetype);
          }
        }
      };
      if (!seen.has(cells)) {
        seen.add(cells);
        cells.changed.connect(all);
      }
      all();
    };
    context.kernelChanged.connect(look);
    await Promise.all([panel.revealed, context.ready]);
    await look();
  }

  let shared;
  return {
    init: scope => { shared = scope; },
    get: async () => {
      const [notebook] = Object.values(shared['@jupyterlab/notebook']);
      const { INotebookTracker } = (await notebook.get())();
      const plugin = {
        id: 'gocuda:cells', autoStart: true, requires: [INotebookTracker],
        activate: (app, notebooks) => {
          const opened = (_, panel) => { open(panel).catch(e => console.error('gocuda:', e)); };
          notebooks.forEach(panel => opened(notebooks, panel));
          notebooks.widgetAdded.connect(opened);
        },
      };
      return () => plugin;
    },
  };
})();
