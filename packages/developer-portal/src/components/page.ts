import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '@tokenwell/token-service/plugin'
import type { Paths } from '../request/routes.ts'
import { assetUrl, type AssetName } from './static-files.ts'
import { csrfInput } from './form.ts'

/** Whom a page is shown to. */
export interface Viewer {
  readonly paths: Paths
  /** `undefined` on pages outside the portal. */
  readonly csrfToken?: string | undefined
  readonly developer?: Developer | undefined
}

export interface PageContent {
  readonly title: string
  readonly body: SafeHtml
  /** Links to the parent pages: label and path. */
  readonly trail?: readonly (readonly [string, string])[] | undefined
  readonly scripts?: readonly AssetName[] | undefined
}

// Bundlers rewrite a tagged template that contains the end tag of a script.
const endScript = '/script'

/** The layout of every page. */
export function page(
  viewer: Viewer,
  { title, body, trail = [], scripts = ['copy.js'] }: PageContent,
): SafeHtml {
  const { paths } = viewer
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Tokenwell</title>
        <link rel="icon" href="${assetUrl(paths, 'icon.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetUrl(paths, 'portal.css')}" />
        ${scripts.map((name) => html`<script src="${assetUrl(paths, name)}" type="module"><${endScript}>`)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <div class="top-line">
            <a class="brand" href="${paths.root}"
              ><img src="${assetUrl(paths, 'icon.svg')}" alt="" width="28" height="28" />Tokenwell</a
            >
            ${navigation(viewer)}
          </div>
        </header>
        <main id="content" tabindex="-1">
          ${trail.length > 0 ? breadcrumbs(trail) : ''}
          <h1>${title}</h1>
          ${body}
        </main>
        <p class="visually-hidden" role="status" id="status"></p>
      </body>
    </html> `
}

function navigation({ paths, developer, csrfToken }: Viewer): SafeHtml {
  const links: [string, string][] = developer
    ? [
        ['Projects', paths.projects],
        ...(developer.administrator
          ? [
              ['Developers', paths.developers] as [string, string],
              ['Products', paths.products] as [string, string],
              ['Audit log', paths.audit] as [string, string],
            ]
          : []),
        ['API reference', paths.reference],
        ['Account', paths.account],
      ]
    : [
        ['API reference', paths.reference],
        csrfToken !== undefined ? ['Log in', paths.logIn] : ['Developer portal', paths.root],
      ]
  return html`<nav aria-label="Main">
    <ul>
      ${links.map(([label, href]) => html`<li><a href="${href}">${label}</a></li>`)}
      ${
        developer && csrfToken !== undefined
          ? html`<li>
              <form method="post" action="${paths.logOut}">
                ${csrfInput(csrfToken)}<button class="plain">Log out</button>
              </form>
            </li>`
          : ''
      }
    </ul>
  </nav>`
}

function breadcrumbs(trail: readonly (readonly [string, string])[]): SafeHtml {
  return html`<nav class="breadcrumbs" aria-label="Breadcrumb">
    <ol>
      ${trail.map(([label, href]) => html`<li><a href="${href}">${label}</a></li>`)}
    </ol>
  </nav>`
}
