import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { groupIconMdPlugin, groupIconVitePlugin } from 'vitepress-plugin-group-icons'
import { benchmarkPages } from '../benchmarks/benchmark-files.ts'
import { clientPanels } from './client-panels.ts'
import { includeFiles } from './included-files.ts'
import { installTabs } from './install-tabs.ts'
import { layerTheme } from './layer-theme.ts'
import { writePlainText } from './plain-text.ts'
import { pageSidebar, referenceSidebar, siteLinks } from './site-links.ts'
import { searchOptions, searchWords } from './theme/search.ts'

const base = process.env['DOCS_BASE'] ?? '/'
const repository = 'https://github.com/tokenwell/tokenwell'
const { version } = JSON.parse(
  readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8'),
) as { version: string }
const tags = spawnSync('git', ['tag', '--points-at', 'HEAD'], { encoding: 'utf8' }).stdout ?? ''
/** Between two releases, the pages describe what the next one will have. */
const documented = tags.includes(`@tokenwell/core@${version}`) ? `v${version}` : `next (after ${version})`

export default defineConfig({
  title: 'Tokenwell',
  description: 'OAuth 2.0 client-credentials access tokens for TypeScript',
  lang: 'en-GB',
  base,
  cleanUrls: true,
  // Prefetching what a page links to transfers more than the page.
  router: { prefetchLinks: false },
  // Otherwise, the theme suppresses transitions at first by styling every element three more times.
  appearance: { disableTransition: false },
  head: [['link', { rel: 'icon', href: `${base}icon.svg` }]],
  srcExclude: ['README.md'],
  // They are not waited for: without a preload, a first visit on a slow line has another font.
  transformHead: ({ assets }) =>
    assets
      .filter((asset) => asset.endsWith('.woff2'))
      .map((href) => ['link', { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href }]),
  // The theme adds the class in the browser: the header would move.
  transformHtml: (page) =>
    page.includes('class="VPSidebar"')
      ? page.replace('class="VPNavBar"', 'class="VPNavBar has-sidebar top"')
      : page,
  buildEnd: ({ outDir }) => writePlainText(outDir),
  markdown: {
    config(markdown) {
      siteLinks(markdown)
      includeFiles(markdown)
      installTabs(markdown)
      clientPanels(markdown)
      // Its types are from another version of markdown-it.
      groupIconMdPlugin(markdown as never)
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    css: { postcss: { plugins: [layerTheme] } },
    resolve: {
      alias: [
        {
          find: /^.*\/VPSidebarItem\.vue$/,
          replacement: fileURLToPath(new URL('theme/SidebarItem.vue', import.meta.url)),
        },
      ],
    },
    plugins: [groupIconVitePlugin()],
    // No component of the theme uses Vue's options API.
    define: { __VUE_OPTIONS_API__: 'false' },
  },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '', width: 24, height: 24 },
    search: {
      provider: 'local',
      options: { detailedView: true, miniSearch: { options: { tokenize: searchWords }, searchOptions } },
    },
    outline: { level: [2, 3] },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: {
      // Runs in the page, where nothing from this file is in scope. `filePath` would be that of a template.
      pattern({ relativePath }) {
        const main = 'https://github.com/tokenwell/tokenwell/edit/main'
        if (relativePath === 'benchmarks/simulation.md') return `${main}/tools/benchmarks/FLEET.md`
        if (relativePath === 'benchmarks/soak.md') return `${main}/tools/benchmarks/SOAK.md`
        if (relativePath === 'benchmarks/method.md') return `${main}/tools/benchmarks/README.md`
        if (/^benchmarks\/(?!index)/.test(relativePath)) return `${main}/tools/benchmarks/RESULTS.md`
        const [, example] = /^examples\/(?!index)(.*)\.md$/.exec(relativePath) ?? []
        if (example) return `${main}/examples/${example}.ts`
        const [, name] = /^reference\/@tokenwell\/([\w-]+)/.exec(relativePath) ?? []
        return name ? `${main}/packages/${name}/src/index.ts` : `${main}/docs/${relativePath}`
      },
      text: 'Edit this page on GitHub',
    },
    // Shown on pages without a sidebar: the home page.
    footer: { message: `MIT licence · <a href="${repository}">GitHub</a>` },
    notFound: {
      title: 'Page not found',
      quote: 'The page does not exist, or it has moved. Search for it, or start at the home page.',
      linkText: 'Home page',
      linkLabel: 'Home page',
    },
    externalLinkIcon: true,
    nav: [
      { text: 'Guide', link: '/start', activeMatch: '^/(?!reference/|benchmarks/|$)' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'Benchmarks', link: '/benchmarks/', activeMatch: '^/benchmarks/' },
      {
        text: documented,
        items: [
          { text: 'Releases', link: `${repository}/releases` },
          { text: 'Contributing', link: `${repository}/blob/main/CONTRIBUTING.md` },
          { text: 'Security policy', link: `${repository}/blob/main/SECURITY.md` },
        ],
      },
    ],
    sidebar: {
      '/reference/': referenceSidebar,
      '/': [...pageSidebar(benchmarkPages()), { text: 'API reference', link: '/reference/' }],
    },
  },
})
