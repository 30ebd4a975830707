import type { SearchOptions } from 'minisearch'

/**
 * The theme's own options; guides come before the reference, the benchmarks and pages about other packages. A page of the
 * reference whose name is searched for comes first.
 */
export const searchOptions: SearchOptions = {
  fuzzy: 0.2,
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
