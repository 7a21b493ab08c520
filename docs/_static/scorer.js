// How the site's search ranks pages: those that explain come before lists, and these
// before evidence. The numbers are Sphinx's, but for score.
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(start|guide)\//.test(page)) return score + 30;
    if (/^(tutorials|coming-from)\//.test(page)) return score + 10;
    if (/^(records\/|changes$)/.test(page)) return score - 30;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
