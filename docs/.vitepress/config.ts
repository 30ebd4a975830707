import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { groupIconMdPlugin, groupIconVitePlugin } from 'vitepress-plugin-group-icons'
import { benchmarkPages } from '../benchmarks/benchmark-files.ts'
import { installTabs } from './install-tabs.ts'
import { removeUnusedStyles } from './remove-unused-styles.ts'
import { referenceSidebar, siteLinks } from './site-links.ts'
import { searchOptions } from './theme/search.ts'

const base = process.env['DOCS_BASE'] ?? '/'
const repository = 'https://github.com/tokenwell/tokenwell'
const { version } = JSON.parse(
  readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8'),
) as { version: string }

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
  buildEnd: ({ outDir }) => removeUnusedStyles(outDir),
  markdown: {
    config(markdown) {
      siteLinks(markdown)
      installTabs(markdown)
      // Its types are from another version of markdown-it.
      groupIconMdPlugin(markdown as never)
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    plugins: [groupIconVitePlugin()],
    // No component of the theme uses Vue's options API.
    define: { __VUE_OPTIONS_API__: 'false' },
  },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '', width: 24, height: 24 },
    search: { provider: 'local', options: { detailedView: true, miniSearch: { searchOptions } } },
    outline: { level: [2, 3] },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: {
      // Runs in the page, where nothing from this file is in scope. `filePath` would be that of a template.
      pattern({ relativePath }) {
        const main = 'https://github.com/tokenwell/tokenwell/edit/main'
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
        text: `v${version}`,
        items: [
          { text: 'Releases', link: `${repository}/releases` },
          { text: 'Contributing', link: `${repository}/blob/main/CONTRIBUTING.md` },
          { text: 'Security policy', link: `${repository}/blob/main/SECURITY.md` },
        ],
      },
    ],
    sidebar: {
      '/reference/': referenceSidebar,
      '/': [
        {
          text: 'Introduction',
          items: [
            { text: 'Get started', link: '/start' },
            { text: 'The API by task', link: '/tasks' },
            { text: 'How it works', link: '/how-it-works' },
            { text: 'Examples', link: '/examples/' },
            { text: 'FAQ', link: '/faq' },
            { text: 'Troubleshooting', link: '/troubleshooting' },
          ],
        },
        {
          text: 'HTTP clients',
          items: [
            { text: 'fetch', link: '/adapters/fetch' },
            { text: 'axios', link: '/adapters/axios' },
            { text: 'ky', link: '/adapters/ky' },
            { text: 'Generated clients and others', link: '/adapters/other-clients' },
          ],
        },
        {
          text: 'Libraries and runtimes',
          items: [
            { text: 'OpenAPI clients', link: '/integrations/openapi' },
            { text: 'ofetch and wretch', link: '/integrations/fetch-libraries' },
            { text: 'GraphQL', link: '/integrations/graphql' },
            { text: 'got and undici', link: '/integrations/node-http' },
            { text: 'gRPC, Kafka, WebSocket, OTLP', link: '/integrations/connections' },
            { text: 'MCP and AI SDKs', link: '/integrations/ai' },
            { text: 'Servers and runtimes', link: '/integrations/servers' },
          ],
        },
        {
          text: 'Frameworks and platforms',
          items: [
            { text: 'NestJS', link: '/adapters/nestjs' },
            { text: 'Express and Fastify', link: '/frameworks/express-fastify' },
            { text: 'Next.js', link: '/frameworks/nextjs' },
            { text: 'Cloudflare Workers', link: '/frameworks/workers' },
            { text: 'Serverless functions', link: '/frameworks/serverless' },
            { text: 'Browsers', link: '/frontend' },
          ],
        },
        {
          text: 'Guides',
          items: [
            { text: 'Errors and retries', link: '/errors' },
            { text: 'Choose how to authenticate', link: '/authentication' },
            { text: 'Entra ID, Auth0, Okta and others', link: '/platforms' },
            { text: 'Multi-tenant applications', link: '/multi-tenant' },
            { text: 'Share a token through Redis', link: '/fleet' },
            { text: 'Share a token through PostgreSQL', link: '/postgresql' },
            { text: 'Share a token through DynamoDB', link: '/dynamodb' },
            { text: 'Share a token through Durable Objects', link: '/durable-objects' },
            { text: 'Write a token store', link: '/custom-stores' },
            { text: 'Logging and telemetry', link: '/telemetry' },
            { text: 'Proxies and private CAs', link: '/network' },
            { text: 'Testing', link: '/testing' },
            { text: 'Module systems and test runners', link: '/modules' },
            { text: 'Command line', link: '/command-line' },
            { text: 'Security model', link: '/security' },
          ],
        },
        {
          text: 'Protect an API',
          items: [
            { text: 'Overview', link: '/protect-an-api' },
            { text: 'NestJS', link: '/protect/nestjs' },
            { text: 'Fastify', link: '/protect/fastify' },
            { text: 'Express', link: '/protect/express' },
            { text: 'Hono, Next.js, Workers', link: '/protect/fetch' },
            { text: 'Test an API against JWTs', link: '/protect/test-with-jwts' },
            { text: 'Hostile JWTs', link: '/protect/hostile-jwts' },
          ],
        },
        {
          text: 'The token service',
          items: [
            { text: 'Run it', link: '/token-service' },
            { text: 'Operate it', link: '/operations' },
            { text: 'Sandbox', link: '/sandbox' },
          ],
        },
        {
          text: 'Compare and migrate',
          items: [
            { text: 'Comparison', link: '/comparison' },
            { text: 'From axios-token-interceptor', link: '/migration/axios-token-interceptor' },
            { text: 'From axios-oauth-client', link: '/migration/axios-oauth-client' },
            { text: 'From simple-oauth2', link: '/migration/simple-oauth2' },
            { text: 'From openid-client', link: '/migration/openid-client' },
            { text: 'From oauth2-mock-server', link: '/migration/oauth2-mock-server' },
            { text: 'From a hand-written cache', link: '/migration/hand-written-cache' },
            { text: 'Benchmarks', link: '/benchmarks/', items: benchmarkPages() },
          ],
        },
        { text: 'API reference', link: '/reference/' },
      ],
    },
  },
})
