import { html, type SafeHtml } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../context.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { choice, csrfInput, field, type FormState } from '../../portal/layout/form.ts'
import { list, named, names, type Column } from '../../portal/layout/list.ts'
import { dangerSection, moreMenu } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { linkTo } from '../../portal/layout/paging.ts'
import { line, optionalLine, parseForm, type ParsedForm } from '../../portal/layout/parse-form.ts'
import { lastUse, type LastUses } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns, type Paths } from '../../portal/paths.ts'
import { actorOf } from '../sessions/session.ts'
import { digest } from '../../runtime/digest.ts'
import { describeIssue, firstIssue } from '../../runtime/parse-value.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { foldName } from '../../storage/folded-name.ts'
import type { IdentityRule, RegisteredClient } from '../../storage/application.ts'
import type { TrustedIssuer } from '../../storage/application.ts'
import { addTrustedIssuer, changeTrustedIssuer, findTrustedIssuer, removeTrustedIssuer } from './acts.ts'
import { trustedIssuerSettings, type TrustedIssuerSettings } from './settings.ts'
import { platformNames, platformOf, platformOfRule, platforms, type PlatformName } from './platform-forms.ts'

/** How many applications a form offers; the others are found by their name or client ID. */
const offeredApplications = 100

/** The issuers whose JWTs are exchanged for tokens, for administrators. */
export async function trustedIssuerPages(portal: FastifyInstance, service: ServiceContext): Promise<void> {
  const { storage, perform, activity, clock } = service
  const { get, post } = administratorPages(portal)

  async function applicationsOf(issuers: readonly TrustedIssuer[]): Promise<Applications> {
    const clientIds = new Set(issuers.flatMap(({ rules }) => rules.map(({ clientId }) => clientId)))
    const clients = await Promise.all([...clientIds].map((id) => storage.applications.findClient(id)))
    const found = clients.filter((client) => client !== undefined)
    return new Map(found.map((client) => [client.application.clientId, client]))
  }

  /** Applications to choose from, by client ID. */
  async function offered(): Promise<Offered> {
    const { items } = await storage.listings.applications({
      status: 'approved',
      limit: offeredApplications,
      offset: 0,
    })
    return items.map(({ application, project }) => [
      application.clientId,
      `${application.name} · ${project.name}`,
    ])
  }

  const issuerOf = ({ params }: { readonly params: { readonly id: string } }) =>
    findTrustedIssuer(params.id, storage.trustedIssuers)

  /** The client ID of the application that the form names. */
  async function chosenApplication(text: string): Promise<string> {
    if (await storage.applications.findClient(text)) return text
    const { items } = await storage.listings.applications({ search: text, limit: 50, offset: 0 })
    const [found, another] = items.filter(({ application }) => foldName(application.name) === foldName(text))
    if (another) throw new UsageError('Several applications have this name. Enter the client ID.')
    if (found) return found.application.clientId
    throw new NotFoundError('There is no application with this name or client ID.')
  }

  /** The rule that the form describes. */
  async function ruleIn(form: RawParameters, platform: PlatformName): Promise<ParsedForm<IdentityRule>> {
    const target = parseForm(applicationForm, form)
    const claims = platforms[platform].parse(form)
    if (!target.data || !claims.data) {
      const states = [target, claims].flatMap((parsed) => (parsed.data ? [] : [parsed.state]))
      const values = { ...texts(form), ...Object.assign({}, ...states.map((state) => state.values)) } as Texts
      return { state: { values, errors: Object.assign({}, ...states.map(({ errors }) => errors)) as Texts } }
    }
    try {
      return { data: { clientId: await chosenApplication(target.data.application), claims: claims.data } }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return { state: { values: texts(form), errors: { application: error.message } } }
    }
  }

  get(patterns.trustedIssuers, async (request) => {
    const issuers = await storage.trustedIssuers.list()
    const lastUses = await activity.lastUses(issuers.map(({ id }) => id))
    const applications = await applicationsOf(issuers)
    return { page: trustedIssuersPage(request, { issuers, applications, lastUses, nowMs: clock.now() }) }
  })

  get(patterns.newTrustedIssuer, async (request) => {
    const application = String(request.query['application'] ?? '')
    const platform = platformNames.find((name) => name === request.query['platform'])
    if (platform === undefined) return { page: choosePlatformPage(request, application) }
    const known = await storage.trustedIssuers.find(platforms[platform].issuer ?? '')
    if (known && !known.configured)
      return { redirectTo: linkTo(request.paths.newIdentityRule(known.id), { application }) }
    const state = { values: { ...newIssuer, application }, errors: {} }
    return { page: newIssuerPage(request, platform, state, await offered()) }
  })

  post(patterns.newTrustedIssuer, async (request): Promise<PortalResponse> => {
    const { form, paths } = request
    const platform = platformNames.find((name) => name === form['platform']) ?? 'other'
    const again = async (state: FormState) => ({
      page: newIssuerPage(request, platform, state, await offered()),
      status: 422,
    })
    const settings = issuerSettings({ ...form, issuer: platforms[platform].issuer ?? form['issuer'] ?? '' })
    const rule = await ruleIn(form, platform)
    if (!settings.data || !rule.data) {
      const states = [settings, rule].flatMap((parsed) => (parsed.data ? [] : [parsed.state]))
      const errors = Object.assign({}, ...states.map((state) => state.errors)) as Texts
      const values = { ...texts(form), ...Object.assign({}, ...states.map((state) => state.values)) } as Texts
      return again({ values, errors })
    }
    const { data } = rule
    return saved(
      async () => {
        const added = { ...settings.data, rules: [data] }
        const { id } = await perform(actorOf(request), (act) => addTrustedIssuer(act, added))
        return { redirectTo: paths.trustedIssuer(id), notice: 'trusted_issuer_added' }
      },
      (message) => again({ values: texts(form), errors: { issuer: message } }),
    )
  })

  async function showIssuer(request: IssuerRequest, state?: FormState): Promise<PageContent> {
    const issuer = await issuerOf(request)
    const applications = await applicationsOf([issuer])
    return trustedIssuerPage(request, { issuer, applications, state: state ?? issuerState(issuer) })
  }

  get(patterns.trustedIssuer, async (request) => ({ page: await showIssuer(request) }))

  post(patterns.trustedIssuer, async (request): Promise<PortalResponse> => {
    const { id, issuer } = await issuerOf(request)
    const isShared = platforms.github.issuer === issuer
    const settings = issuerSettings(isShared ? { ...request.form, issuer } : request.form)
    if (!settings.data) return { page: await showIssuer(request, settings.state), status: 422 }
    const { data } = settings
    return saved(
      async () => {
        await perform(actorOf(request), (act) =>
          changeTrustedIssuer(act, id, ({ rules }) => ({ ...data, rules: [...rules] })),
        )
        return { redirectTo: request.paths.trustedIssuer(id), notice: 'trusted_issuer_changed' }
      },
      async (message) => ({
        page: await showIssuer(request, { values: texts(request.form), errors: { issuer: message } }),
        status: 422,
      }),
    )
  })

  post(patterns.trustedIssuerRemoval, async (request) => {
    await perform(actorOf(request), (act) => removeTrustedIssuer(act, request.params.id))
    return { redirectTo: request.paths.trustedIssuers, notice: 'trusted_issuer_removed' }
  })

  /** The rule of the URL, or a new one, and what the form says of it. */
  async function showRule(request: RuleRequest, given?: FormState): Promise<PageContent> {
    const issuer = await issuerOf(request)
    const rule = ruleOf(issuer, request.params.rule)
    const platform = rule ? platformOfRule(platformOf(issuer), rule) : platformOf(issuer)
    const values = rule
      ? { ...platforms[platform].valuesOf(rule.claims), application: rule.clientId }
      : { application: String(request.query['application'] ?? '') }
    const state = given ?? { values, errors: {} }
    return rulePage(request, { issuer, rule, platform, state, offered: await offered() })
  }

  async function saveRule(request: RuleRequest): Promise<PortalResponse> {
    const issuer = await issuerOf(request)
    const current = ruleOf(issuer, request.params.rule)
    const platform = current ? platformOfRule(platformOf(issuer), current) : platformOf(issuer)
    const rule = await ruleIn(request.form, platform)
    if (!rule.data) return { page: await showRule(request, rule.state), status: 422 }
    const { data } = rule
    return saved(
      async () => {
        await perform(actorOf(request), (act) =>
          changeTrustedIssuer(act, issuer.id, ({ rules, ...settings }) => ({
            ...settingsOf(settings),
            rules: current
              ? rules.map((each) => (ruleId(each) === ruleId(current) ? data : each))
              : [...rules, data],
          })),
        )
        const notice = current ? 'identity_rule_changed' : 'identity_rule_added'
        return { redirectTo: request.paths.trustedIssuer(issuer.id), notice }
      },
      async (message) => ({
        page: await showRule(request, { values: texts(request.form), errors: { application: message } }),
        status: 422,
      }),
    )
  }

  get(patterns.newIdentityRule, async (request) => ({ page: await showRule(request) }))
  post(patterns.newIdentityRule, saveRule)
  get(patterns.identityRule, async (request) => ({ page: await showRule(request) }))
  post(patterns.identityRule, saveRule)

  post(patterns.identityRuleRemoval, async (request): Promise<PortalResponse> => {
    const issuer = await issuerOf(request)
    const removed = ruleOf(issuer, request.params.rule)
    return saved(
      async () => {
        await perform(actorOf(request), (act) =>
          changeTrustedIssuer(act, issuer.id, ({ rules, ...settings }) => ({
            ...settingsOf(settings),
            rules: rules.filter((each) => !removed || ruleId(each) !== ruleId(removed)),
          })),
        )
        return { redirectTo: request.paths.trustedIssuer(issuer.id), notice: 'identity_rule_removed' }
      },
      async (message) => ({
        page: await showIssuer(request, { ...issuerState(issuer), errors: { issuer: message } }),
        status: 422,
      }),
    )
  })
}

type Texts = Record<string, string>
type Applications = ReadonlyMap<string, RegisteredClient>
/** Client IDs, and how a list of them calls them. */
type Offered = readonly (readonly [clientId: string, label: string])[]
type IssuerRequest = DeveloperRequest & { readonly params: { readonly id: string } }
type RuleRequest = DeveloperRequest & { readonly params: { readonly id: string; readonly rule?: string } }

/** The form's fields, to show them again. */
function texts(form: RawParameters): Texts {
  return Object.fromEntries(Object.entries(form).filter(([, value]) => typeof value === 'string')) as Texts
}

/** Rules have no ID: a change names what the rule was, so that two administrators do not change different ones. */
function ruleId({ clientId, claims }: IdentityRule): string {
  return digest(JSON.stringify([clientId, claims])).slice(0, 16)
}

/** @throws {@link NotFoundError} if the URL names a rule that is gone */
function ruleOf({ rules, issuer }: TrustedIssuer, id: string | undefined): IdentityRule | undefined {
  const found = rules.find((rule) => ruleId(rule) === id)
  if (found || id === undefined) return found
  throw new NotFoundError(`"${issuer}" has no such rule any more.`)
}

/** Saves a change; `again` shows the form with what is wrong. */
async function saved(
  save: () => Promise<PortalResponse>,
  again: (message: string) => Promise<PortalResponse>,
): Promise<PortalResponse> {
  try {
    return await save()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return again(error.message)
  }
}

const applicationForm = z.object({ application: line(512) })
const issuerForm = z.object({
  issuer: line(1_000),
  jwks_url: optionalLine(1_000),
  audiences: optionalLine(5_000),
  replay: z.enum(['until-expiry', 'once']),
})
const newIssuer = { replay: 'until-expiry' }

/** What is chosen for an issuer, besides its rules. */
function issuerSettings(form: RawParameters): ParsedForm<Omit<TrustedIssuerSettings, 'rules'>> {
  const parsed = parseForm(issuerForm, form)
  if (!parsed.data) return parsed
  const { issuer, jwks_url: jwksUrl, audiences, replay } = parsed.data
  const settings = trustedIssuerSettings.omit({ rules: true }).safeParse(
    {
      issuer,
      ...(jwksUrl && { jwksUrl }),
      audiences: audiences.split(' ').filter(Boolean),
      detectReplay: replay === 'once',
    },
    { error: describeIssue },
  )
  if (settings.success) return { data: settings.data }
  const [name, what] = firstIssue(settings.error)
  const field = name === 'jwksUrl' ? 'jwks_url' : /^\w+/.exec(name)![0]
  const label = field === 'jwks_url' ? 'The URL' : name
  return { state: { values: parsed.data, errors: { [field]: `${label} ${what}.` } } }
}

function settingsOf({ issuer, jwksUrl, audiences, detectReplay }: Omit<TrustedIssuer, 'rules'>) {
  return { issuer, ...(jwksUrl !== undefined && { jwksUrl }), audiences: [...audiences], detectReplay }
}

function issuerState({ issuer, jwksUrl = '', audiences, detectReplay }: TrustedIssuer): FormState {
  const replay = detectReplay ? 'once' : 'until-expiry'
  return { values: { issuer, jwks_url: jwksUrl, audiences: audiences.join(' '), replay }, errors: {} }
}

interface TrustedIssuersContent {
  readonly issuers: readonly TrustedIssuer[]
  /** Those of their rules, as far as they exist. */
  readonly applications: Applications
  readonly lastUses: LastUses
  readonly nowMs: number
}

function trustedIssuersPage(
  { paths }: DeveloperRequest,
  { issuers, applications, lastUses, nowMs }: TrustedIssuersContent,
): PageContent {
  const columns: readonly Column<TrustedIssuer>[] = [
    {
      label: 'Issuer',
      kind: 'name',
      cell: (issuer) => {
        const label = platformLabel(issuer)
        const below = [label && issuer.issuer, issuer.configured && 'In the configuration']
        return named({
          name: label ?? issuer.issuer,
          href: paths.trustedIssuer(issuer.id),
          below: below.filter(Boolean).join(' · '),
        })
      },
    },
    {
      label: 'Applications',
      kind: 'text',
      leaves: 1,
      cell: ({ rules }) =>
        names([
          ...new Set(rules.map(({ clientId }) => applications.get(clientId)?.application.name ?? clientId)),
        ]),
    },
    { label: 'Last used', kind: 'time', cell: ({ id }) => lastUse(id, lastUses, nowMs) },
  ]
  const add = html`<a class="button" href="${paths.newTrustedIssuer}">Trust an issuer</a>`
  const body = html`<p class="lead">
      A platform issues JWTs to its CI jobs, containers or virtual machines. They exchange such a JWT for an
      access token of an application, and need no client secret.
    </p>
    ${list(columns, issuers, {
      label: 'Trusted issuers',
      empty: html`<div class="empty">
        <h2>No trusted issuers yet</h2>
        <p class="muted">Trust a platform, and its jobs can get tokens of your applications.</p>
        ${add}
      </div>`,
    })}`
  return { title: 'Trusted issuers', body, ...(issuers.length > 0 && { actions: add }) }
}

function platformLabel(issuer: TrustedIssuer): string | undefined {
  const name = platformOf(issuer)
  return name === 'other' ? undefined : platforms[name].title
}

/** @param application the client ID that its form names, if somebody comes from there */
function choosePlatformPage({ paths }: DeveloperRequest, application: string): PageContent {
  const body = html`<p class="lead">Which platform issues the JWTs?</p>
    <ul class="rows">
      ${platformNames.map((platform) => {
        const { title, about } = platforms[platform]
        const href = linkTo(paths.newTrustedIssuer, { platform, application })
        return html`<li class="bar">
          <p>
            <strong><a href="${href}">${title}</a></strong
            ><br /><span class="muted">${about}</span>
          </p>
        </li>`
      })}
    </ul>`
  return { title: 'Trust an issuer', body, ...belongsTo(paths) }
}

/** Pages that the menu finds under the trusted issuers. */
function belongsTo({ trustedIssuers }: Paths) {
  return { trail: [['Trusted issuers', trustedIssuers]] as const, section: trustedIssuers }
}

/** There is one GitHub; of the others, only the URL says which. */
function titleOf(issuer: TrustedIssuer): string {
  return platformOf(issuer) === 'github' ? platforms.github.title : issuer.issuer
}

function newIssuerPage(
  { paths, csrfToken }: DeveloperRequest,
  platform: PlatformName,
  state: FormState,
  applications: Offered,
): PageContent {
  const { title } = platforms[platform]
  const body = html`<form method="post" action="${paths.newTrustedIssuer}" class="card form">
    ${csrfInput(csrfToken)}<input type="hidden" name="platform" value="${platform}" />
    ${ruleFields(platform, state, applications)} ${issuerFields(platform, state, true)}
    <button>Trust issuer</button>
  </form>`
  return {
    title: platform === 'other' ? 'Trust an issuer' : `Trust ${title}`,
    body,
    ...belongsTo(paths),
  }
}

function ruleFields(platform: PlatformName, state: FormState, applications: Offered): SafeHtml {
  return html`${field(
      {
        name: 'application',
        label: 'Application',
        hint: 'Its name or client ID. The JWTs are exchanged for its tokens.',
        list: 'applications',
      },
      state,
    )}
    <datalist id="applications">
      ${applications.map(([clientId, label]) => html`<option value="${clientId}">${label}</option>`)}
    </datalist>
    ${platforms[platform].fields(state)}`
}

/** Few new issuers need the last ones. */
function issuerFields(platform: PlatformName, state: FormState, isNew: boolean): SafeHtml {
  const { issuer, issuerHint = 'Exactly as in the claim iss of its JWTs.' } = platforms[platform]
  const further = html`${field({ name: 'jwks_url', label: 'URL of its JWK set', hint: 'If empty, the URL is taken from the metadata of the issuer.', required: false }, state)}
  ${field({ name: 'audiences', label: 'Audiences', hint: 'Values of the claim aud to accept, separated by spaces. If empty, it must be the URL of this service.', required: false }, state)}
  ${choice(
    {
      name: 'replay',
      label: 'A JWT is accepted',
      choices: [
        ['until-expiry', 'Until it expires'],
        ['once', 'Only once (requires the claim jti)'],
      ],
    },
    state,
  )}`
  const isWrong = ['jwks_url', 'audiences', 'replay'].some((name) => state.errors[name] !== undefined)
  return html`${issuer === undefined ? field({ name: 'issuer', label: 'Issuer', hint: issuerHint }, state) : issuerError(state)}
  ${
    isNew
      ? html`<details ${isWrong ? html`open` : ''}>
          <summary>Keys, audiences and repeated JWTs</summary>
          ${further}
        </details>`
      : further
  }`
}

/** Of an issuer that nobody enters. */
function issuerError({ errors: { issuer } }: FormState): SafeHtml | '' {
  return issuer === undefined ? '' : html`<p class="error" role="alert">${issuer}</p>`
}

interface TrustedIssuerContent {
  readonly issuer: TrustedIssuer
  readonly applications: Applications
  readonly state: FormState
}

/** One of them: which JWTs get tokens of which applications. */
function trustedIssuerPage(
  request: DeveloperRequest,
  { issuer, applications, state }: TrustedIssuerContent,
): PageContent {
  const { paths, csrfToken } = request
  const platform = platformOf(issuer)
  const path = paths.trustedIssuer(issuer.id)
  const settings = html`<form method="post" action="${path}" class="card form">
      <h2>Settings</h2>
      ${csrfInput(csrfToken)} ${issuerFields(platform, state, false)}
      <button>Save</button>
    </form>
    ${dangerSection('Remove', [
      {
        title: 'Stop trusting this issuer',
        text: 'The tokens that were issued for its JWTs are revoked at once.',
        button: dialog({
          id: 'remove',
          label: html`Remove<span class="visually-hidden"> issuer</span>`,
          title: 'Stop trusting this issuer?',
          body: html`<p>
            The tokens that were issued for its JWTs are revoked, and its machines get no new ones.
          </p>`,
          action: paths.trustedIssuerRemoval(issuer.id),
          confirm: 'Remove issuer',
          csrfToken,
          danger: true,
        }),
      },
    ])}`
  const body = html`${issuer.configured ? html`<p class="notice">This issuer is in the configuration of the service. Change it there.</p>` : ''}
    <section aria-labelledby="rules">
      <div class="bar">
        <h2 id="rules">Which JWTs get tokens</h2>
        ${issuer.configured ? '' : html`<div class="actions"><a class="button outline" href="${paths.newIdentityRule(issuer.id)}">Add a rule</a></div>`}
      </div>
      ${ruleList(request, issuer, applications)}
    </section>
    ${issuer.configured ? '' : settings}`
  return { title: titleOf(issuer), body, ...belongsTo(paths) }
}

function ruleList(
  { paths, csrfToken }: DeveloperRequest,
  issuer: TrustedIssuer,
  applications: Applications,
): SafeHtml {
  const platform = platforms[platformOf(issuer)]
  const removal = (rule: IdentityRule) =>
    dialog({
      id: `remove-${ruleId(rule)}`,
      label: html`Remove<span class="visually-hidden"> ${platform.describe(rule.claims).join(', ')}</span>`,
      style: 'ghost',
      title: 'Remove this rule?',
      body: html`<p>
        JWTs that only this rule accepts get no more tokens. Tokens that were issued stay valid until they
        expire.
      </p>`,
      action: paths.identityRuleRemoval(issuer.id, ruleId(rule)),
      confirm: 'Remove rule',
      csrfToken,
      danger: true,
    })
  const columns: readonly Column<IdentityRule>[] = [
    {
      label: platform.subject,
      kind: 'name',
      cell: (rule) => {
        const [name, below] = platform.describe(rule.claims)
        const href = issuer.configured ? undefined : paths.identityRule(issuer.id, ruleId(rule))
        return named({ name, href, below })
      },
    },
    {
      label: 'Application',
      kind: 'text',
      cell: ({ clientId }) => {
        const client = applications.get(clientId)
        return client
          ? named({
              name: client.application.name,
              href: paths.application(client.project.id, client.application.id),
              below: client.project.name,
            })
          : html`<code class="cut">${clientId}</code>`
      },
    },
    ...(issuer.configured || issuer.rules.length === 1
      ? []
      : [
          {
            label: 'Actions',
            kind: 'menu' as const,
            cell: (rule: IdentityRule) =>
              moreMenu({
                id: `more-${ruleId(rule)}`,
                about: platform.describe(rule.claims).join(', '),
                items: [removal(rule)],
              }),
          },
        ]),
  ]
  return list(columns, issuer.rules, { label: 'Rules' })
}

interface RuleContent {
  readonly issuer: TrustedIssuer
  /** Without one, it is a new one. */
  readonly rule: IdentityRule | undefined
  readonly platform: PlatformName
  readonly state: FormState
  readonly offered: Offered
}

function rulePage(
  { paths, csrfToken }: DeveloperRequest,
  { issuer, rule, platform, state, offered }: RuleContent,
): PageContent {
  const action = rule ? paths.identityRule(issuer.id, ruleId(rule)) : paths.newIdentityRule(issuer.id)
  const body = html`<form method="post" action="${action}" class="card form">
    ${csrfInput(csrfToken)} ${ruleFields(platform, state, offered)}
    <p class="hint">
      A JWT that rules of several applications accept gets tokens only if its request names the client ID of
      one of them.
    </p>
    <button>${rule ? 'Save' : 'Add rule'}</button>
  </form>`
  const { trail, section } = belongsTo(paths)
  const title = rule ? 'Change a rule' : 'Add a rule'
  return { title, body, section, trail: [...trail, [titleOf(issuer), paths.trustedIssuer(issuer.id)]] }
}
