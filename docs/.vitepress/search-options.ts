import type { SearchOptions } from 'minisearch'

/** The theme's own options; guides come before the reference, the benchmarks and pages about other packages. */
export const searchOptions: SearchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (page: string) =>
    /\/(?:reference|benchmarks|migration|examples|comparison)/.test(page)
      ? 0.3
      : /\/(?:faq|integrations|protect)/.test(page)
        ? 0.7
        : 1,
}
