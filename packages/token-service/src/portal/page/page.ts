import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import type { Paths } from '../paths.ts'
import type { Visit } from '../visit.ts'
import { assetUrl, type AssetName } from './assets.ts'
import { formToken } from './form.ts'

/** Who looks at a page, and how they got here. */
export interface Viewer {
  readonly paths: Paths
  readonly visit?: Visit | undefined
  readonly developer?: Developer | undefined
}

export interface PageContent {
  readonly title: string
  readonly body: SafeHtml
  /** The way back up: label and address. */
  readonly trail?: readonly (readonly [string, string])[] | undefined
  readonly scripts?: readonly AssetName[] | undefined
}

/** What every page has around what it shows. */
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
        ${scripts.map((name) => html`<script src="${assetUrl(paths, name)}" type="module"></script>`)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
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

function navigation({ paths, developer, visit }: Viewer): SafeHtml {
  const links: [string, string][] = developer
    ? [
        ['Projects', paths.projects],
        ...(developer.administrator ? [['Developers', paths.developers] as [string, string]] : []),
        ['API reference', paths.reference],
        ['Account', paths.account],
      ]
    : [['API reference', paths.reference], visit ? ['Log in', paths.logIn] : ['Developer portal', paths.root]]
  return html`<nav aria-label="Main">
    <ul>
      ${links.map(([label, href]) => html`<li><a href="${href}">${label}</a></li>`)}
      ${
        developer && visit
          ? html`<li>
              <form method="post" action="${paths.logOut}">
                ${formToken(visit)}<button class="plain">Log out</button>
              </form>
            </li>`
          : ''
      }
    </ul>
  </nav>`
}

function breadcrumbs(trail: readonly (readonly [string, string])[]): SafeHtml {
  return html`<nav class="trail" aria-label="Breadcrumb">
    <ol>
      ${trail.map(([label, href]) => html`<li><a href="${href}">${label}</a></li>`)}
    </ol>
  </nav>`
}
