import type { SearchOptions } from 'minisearch'

/**
 * The theme's own options; guides come before the reference, the benchmarks and pages about other packages. A page of the
 * reference whose name is searched for comes first.
 */
export const searchOptions: SearchOptions = {
  // A number that differs in a digit is another number.
  fuzzy: (term) => (/\d/.test(term) ? false : 0.2),
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (page: string, term: string, { title }: { title?: string } = {}) =>
    /\/reference\//.test(page) && title?.replace('()', '').toLowerCase() === term
      ? 1.5
      : /\/(?:reference|benchmarks|migration|examples|comparison)/.test(page)
        ? 0.3
        : /\/(?:faq|integrations|protect)/.test(page)
          ? 0.7
          : 1,
}

/**
 * The words of a text. A name such as `ERR_TOKEN` or `invalid_client` is a word, and so are its parts. Runs in the page, where
 * nothing else of this file is in scope.
 */
export function searchWords(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_]+/u)
    .flatMap((word) => (/[^_]_+[^_]/.test(word) ? [word, ...word.split(/_+/)] : word.replaceAll('_', '')))
}

/** In the theme's search, a button contains everything, and options contain links: makes it a dialog with links as options. */
export function completeSearchMarkup(): void {
  new MutationObserver(complete).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['id', 'aria-label', 'aria-selected'],
  })
}

function complete(): void {
  const box = document.querySelector('.VPLocalSearchBox')
  if (!box) return
  if (box.role !== 'dialog') {
    box.role = 'dialog'
    box.ariaLabel = 'Search'
    for (const name of ['aria-expanded', 'aria-haspopup', 'aria-labelledby']) box.removeAttribute(name)
  }
  // Only elements with a role can have a label.
  for (const key of box.querySelectorAll('kbd')) key.role = 'img'
  for (const link of box.querySelectorAll('a.result')) {
    const item = link.parentElement!
    link.role = 'option'
    link.removeAttribute('aria-label')
    item.role = 'none'
    for (const name of ['id', 'aria-selected']) {
      const value = item.getAttribute(name)
      if (value === null) continue
      link.setAttribute(name, value)
      item.removeAttribute(name)
    }
  }
}
