import { defineConfig } from 'vitepress'
import { benchmarkPages } from '../benchmarks/benchmark-files.ts'
import { readSidebar } from './reference-sidebar.ts'
import { siteLinks } from './site-links.ts'

export default defineConfig({
  title: 'Tokenwell',
  description: 'OAuth 2.0 client-credentials access tokens for TypeScript',
  lang: 'en-GB',
  base: process.env['DOCS_BASE'] ?? '/',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: `${process.env['DOCS_BASE'] ?? '/'}icon.svg` }]],
  srcExclude: ['README.md'],
  markdown: {
    config: siteLinks,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Errors', link: '/errors' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: {
      '/reference/': readSidebar(),
      '/': [
        {
          text: 'First',
          items: [
            { text: 'Start', link: '/start' },
            { text: 'How it works', link: '/how-it-works' },
            { text: 'Examples', link: '/examples/' },
          ],
        },
        {
          text: 'With your HTTP client',
          items: [
            { text: 'fetch', link: '/adapters/fetch' },
            { text: 'axios', link: '/adapters/axios' },
            { text: 'ky', link: '/adapters/ky' },
            { text: 'NestJS', link: '/adapters/nestjs' },
          ],
        },
        {
          text: 'Guides',
          items: [
            { text: 'Frontends', link: '/frontend' },
            { text: 'A fleet', link: '/fleet' },
            { text: 'Errors and holds', link: '/errors' },
            { text: 'Telemetry', link: '/telemetry' },
            { text: 'Command line', link: '/command-line' },
            { text: 'Security model', link: '/security' },
          ],
        },
        {
          text: 'The token service',
          items: [
            { text: 'Run it', link: '/token-service' },
            { text: 'Sandbox in tests', link: '/sandbox' },
          ],
        },
        {
          text: 'Coming from elsewhere',
          items: [
            { text: 'Comparison', link: '/comparison' },
            { text: 'axios-token-interceptor', link: '/migration/axios-token-interceptor' },
            { text: 'simple-oauth2', link: '/migration/simple-oauth2' },
            { text: 'openid-client', link: '/migration/openid-client' },
            { text: 'A cache of your own', link: '/migration/hand-written-cache' },
            { text: 'Benchmarks', link: '/benchmarks/', items: benchmarkPages() },
          ],
        },
        { text: 'API reference', link: '/reference/' },
      ],
    },
  },
})
