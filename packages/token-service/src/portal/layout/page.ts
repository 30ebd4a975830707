import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer.ts'
import type { Paths } from '../paths.ts'
import { assetUrl, type AssetName } from '../static-files.ts'
import { csrfInput } from './form.ts'
import { notices, type NoticeName } from './notices.ts'
import { formatCount } from './paging.ts'

/** Whom a page is shown to. */
export interface Viewer {
  readonly paths: Paths
  readonly csrfToken: string
  readonly developer?: Developer | undefined
  /** The path of the page. */
  readonly path: string
  /** The path with its query. */
  readonly url: string
  /** What the page confirms. */
  readonly notice?: NoticeName | undefined
}

/** What the menu shows besides its links. */
export interface MenuFacts {
  /** Whether there was a first token: nobody needs the steps to it any more. */
  readonly isStarted?: boolean | undefined
  /** How many applications an administrator has to decide on. */
  readonly awaitingApproval?: number | undefined
}

/** What somebody has just done. It precedes everything else, gets the focus, and begins the title of the document. */
export interface Confirmation {
  readonly title: string
  readonly body: SafeHtml | string
}

export interface PageContent {
  readonly title: string
  /** @default the notice of the request before */
  readonly confirmation?: Confirmation | undefined
  readonly body: SafeHtml
  /** Links to the parent pages: label and path. */
  readonly trail?: readonly (readonly [string, string])[] | undefined
  /** The path of the menu's entry that the page belongs to, if its own path does not say so. */
  readonly section?: string | undefined
  /** Beside the title: a badge, and actions on the page's subject. */
  readonly badge?: SafeHtml | undefined
  readonly actions?: SafeHtml | undefined
  /** A page without a menu, in one narrow column. */
  readonly isCard?: boolean | undefined
  /** Where the browser continues at once. */
  readonly continueTo?: string | undefined
  /** The scripts that the page needs besides that of every page. */
  readonly scripts?: readonly AssetName[] | undefined
}

/** A page of the portal. */
export function page(viewer: Viewer, content: PageContent, facts: MenuFacts = {}): SafeHtml {
  const { paths, path } = viewer
  const { section: own = sectionOf(paths, path) } = content
  // Those who have started find the steps below the overview.
  const section = own === paths.start && facts.isStarted ? paths.root : own
  const { title, body, trail = [], badge = '', actions, isCard = false, scripts = [], continueTo } = content
  const confirmation = content.confirmation ?? (viewer.notice && confirmationOf(viewer.notice))
  const main = html`<main id="content" tabindex="-1" class="${isCard ? 'narrow' : ''}">
    ${confirmation === undefined ? '' : html`<div role="status" class="notice" data-variant="success" tabindex="-1" autofocus>${confirmation.body}</div>`}
    ${trail.length > 0 ? breadcrumbs(trail) : ''}
    <div class="title">
      <h1>${title}</h1>
      ${badge} ${actions === undefined ? '' : html`<div class="actions">${actions}</div>`}
    </div>
    ${body}
  </main>`
  return document(isCard ? { ...viewer, developer: undefined } : viewer, {
    title: confirmation === undefined ? title : `${confirmation.title} · ${title}`,
    main,
    section,
    scripts: ['portal.js', ...scripts],
    continueTo,
    facts,
  })
}

/** Its first sentence is enough for a title. */
function confirmationOf(notice: NoticeName): Confirmation {
  const body = notices[notice]
  return { title: /^[^.]*/.exec(body)![0], body }
}

/** In paths, applications stand below their projects; in the menu, beside them. */
function sectionOf({ projects, applications }: Paths, path: string): string {
  return path.startsWith(`${projects}/`) && path.includes('/applications/') ? applications : path
}

interface DocumentContent {
  readonly title: string
  readonly main: SafeHtml
  readonly section: string
  readonly scripts: readonly AssetName[]
  readonly continueTo: string | undefined
  readonly facts: MenuFacts
}

// Bundlers rewrite a tagged template that contains the end tag of a script.
const endScript = '/script'

function document(viewer: Viewer, content: DocumentContent): SafeHtml {
  const { title, main, section, scripts, continueTo, facts } = content
  const { paths, developer } = viewer
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${continueTo === undefined ? '' : html`<meta http-equiv="refresh" content="0; url=${continueTo}" />`}
        <title>${title} · Tokenwell</title>
        <link rel="icon" href="${assetUrl(paths, 'icon.svg')}" type="image/svg+xml" />
        <link rel="preload" href="${paths.asset('sans.woff2')}" as="font" type="font/woff2" crossorigin />
        <link rel="stylesheet" href="${assetUrl(paths, 'portal.css')}" />
        ${scripts.map((name) => html`<script src="${assetUrl(paths, name)}" type="module"><${endScript}>`)}
      </head>
      <body class="app ${developer ? 'with-menu' : ''}">
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <a class="brand" href="${paths.root}"
            ><img src="${assetUrl(paths, 'icon.svg')}" alt="" width="26" height="26" />Tokenwell</a
          >
          ${developer ? menu(viewer, developer, section, facts) : shortMenu(viewer)}
        </header>
        ${main}
        <p class="visually-hidden" role="status" id="status"></p>
      </body>
    </html> `
}

const menuButton = html`<button type="button" class="outline small menu-button" popovertarget="menu">
  Menu
</button>`

type Link = readonly [label: string, path: string, badge?: number]

function shortMenu(viewer: Viewer): SafeHtml {
  const { paths } = viewer
  const links: Link[] = [
    ['API reference', paths.reference],
    ['Log in', paths.logIn],
  ]
  return html`<nav class="short-menu" aria-label="Main">${linkList(viewer, links)}</nav>`
}

function menu(
  viewer: Viewer,
  developer: Developer,
  section: string,
  { awaitingApproval = 0, isStarted = false }: MenuFacts,
): SafeHtml {
  const { paths, csrfToken } = viewer
  const links: Link[] = [
    isStarted ? ['Overview', paths.root] : ['Get started', paths.start],
    ['Applications', paths.applications],
    ['Projects', paths.projects],
    ['API reference', paths.reference],
  ]
  const administration: Link[] = [
    ['Approvals', paths.approvals, awaitingApproval],
    ['People', paths.developers],
    ['API products', paths.products],
    ['Scopes', paths.scopes],
    ['Resource servers', paths.resourceServers],
    ['Trusted issuers', paths.trustedIssuers],
    ['Audit log', paths.audit],
  ]
  return html`${menuButton}
    <div id="menu" popover>
      <form method="get" action="${paths.search}" class="everything" role="search" aria-label="Everything">
        <input
          type="search"
          name="q"
          aria-label="Search everything"
          placeholder="Search everything"
          autocomplete="off"
        />
        <kbd>Ctrl K</kbd>
      </form>
      <nav aria-label="Main">
        ${linkList(viewer, links, section)}
        ${
          developer.administrator
            ? html`<h2>Administration</h2>
                ${linkList(viewer, administration, section)}`
            : ''
        }
      </nav>
      <div class="account">
        <p>
          <strong>${developer.name}</strong><br />${developer.administrator ? 'Administrator' : 'Developer'}
        </p>
        <nav aria-label="Account">${linkList(viewer, [['Account', paths.account]])}</nav>
        <form method="post" action="${paths.logOut}">
          ${csrfInput(csrfToken)}<button class="ghost">Log out</button>
        </form>
      </div>
    </div>`
}

function linkList({ path, paths }: Viewer, links: readonly Link[], section = path): SafeHtml {
  const current = (href: string) =>
    path === href
      ? html`aria-current="page"`
      : section === href || (href !== paths.root && section.startsWith(`${href}/`))
        ? html`aria-current="true"`
        : ''
  return html`<ul>
    ${links.map(
      ([label, href, count = 0]) =>
        html`<li>
          <a href="${href}" ${current(href)}
            >${label}${
              count > 0
                ? html` <span class="count"
                    >${formatCount(count)}<span class="visually-hidden"> waiting</span></span
                  >`
                : ''
            }</a
          >
        </li>`,
    )}
  </ul>`
}

function breadcrumbs(trail: readonly (readonly [string, string])[]): SafeHtml {
  return html`<nav class="breadcrumbs" aria-label="Breadcrumb">
    <ol class="trail">
      ${trail.map(([label, href]) => html`<li><a href="${href}">${label}</a></li>`)}
    </ol>
  </nav>`
}
