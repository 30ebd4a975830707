import { html, type SafeHtml } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { tokenPath } from '../../oauth/endpoint-paths.ts'
import { jwtBearer, type RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../context.ts'
import { code, copyable, copyButton, copyLabel } from '../../portal/layout/copyable.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { csrfInput, field, revisionInput, seenRevision, type FormState } from '../../portal/layout/form.ts'
import { list, named, names, type Column } from '../../portal/layout/list.ts'
import { dangerSection, moreMenu } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { linkTo } from '../../portal/layout/paging.ts'
import { lastUse, type LastUses } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns, type Paths } from '../../portal/paths.ts'
import { actorOf } from '../sessions/session.ts'
import { digest } from '../../runtime/digest.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { foldName } from '../../storage/folded-name.ts'
import type { IdentityRule, RegisteredClient, TrustedIssuer } from '../../storage/application.ts'
import { ChangedMeanwhile, checkRevision } from '../../storage/revision.ts'
import {
  addTrustedIssuer,
  changeTrustedIssuer,
  findTrustedIssuer,
  issuerRevision,
  removeTrustedIssuer,
} from './acts.ts'
import {
  claimFields,
  claimValues,
  describeClaims,
  foldedFurtherFields,
  furtherFields,
  issuerField,
  issuerState,
  presetValues,
  type Read,
  readClaims,
  readIssuer,
  textOf,
  texts,
} from './issuer-form.ts'
import { presetNames, presetOf, presets, type Preset } from './presets.ts'

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
    if (text === '') throw new UsageError('Enter the name or client ID of an application.')
    if (await storage.applications.findClient(text)) return text
    const { items } = await storage.listings.applications({ search: text, limit: 50, offset: 0 })
    const [found, another] = items.filter(({ application }) => foldName(application.name) === foldName(text))
    if (another) throw new UsageError('Several applications have this name. Enter the client ID.')
    if (found) return found.application.clientId
    throw new NotFoundError('There is no application with this name or client ID.')
  }

  /** The rule that the form describes. */
  async function ruleIn(form: RawParameters, issuer: string): Promise<Read<IdentityRule>> {
    const claims = readClaims(form, issuer)
    const errors = claims.data ? {} : claims.errors
    try {
      const clientId = await chosenApplication(textOf(form, 'application'))
      return claims.data ? { data: { clientId, claims: claims.data } } : { errors }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return { errors: { application: error.message, ...errors } }
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
    const name = presetNames.find((each) => each === request.query['preset'])
    const preset: Preset | undefined = name && presets[name]
    const known = preset?.issuer === undefined ? undefined : await storage.trustedIssuers.find(preset.issuer)
    if (known && !known.configured)
      return { redirectTo: linkTo(request.paths.newIdentityRule(known.id), { application }) }
    const filled = preset ? { issuer: preset.issuer ?? '', ...presetValues(preset) } : {}
    const state = { values: { ...filled, application }, errors: {} }
    return { page: newIssuerPage(request, { preset, state, offered: await offered() }) }
  })

  post(patterns.newTrustedIssuer, async (request): Promise<PortalResponse> => {
    const { form, paths } = request
    const issuer = textOf(form, 'issuer')
    const again = async (errors: FormState['errors']) => {
      const state = { values: texts(form), errors }
      const preset = presetOf(issuer, [])
      return { page: newIssuerPage(request, { preset, state, offered: await offered() }), status: 422 }
    }
    const settings = readIssuer(form)
    const rule = await ruleIn(form, issuer)
    if (!settings.data || !rule.data)
      return again({ ...(settings.data ? {} : settings.errors), ...(rule.data ? {} : rule.errors) })
    const added = { ...settings.data, rules: [rule.data] }
    return saved(
      async () => {
        const { id } = await perform(actorOf(request), (act) => addTrustedIssuer(act, added))
        return { redirectTo: paths.trustedIssuer(id), notice: 'trusted_issuer_added' }
      },
      (message) => again({ issuer: message }),
    )
  })

  async function showIssuer(request: IssuerRequest, state?: FormState): Promise<PageContent> {
    const issuer = await issuerOf(request)
    const applications = await applicationsOf([issuer])
    return trustedIssuerPage(request, { issuer, applications, state: state ?? issuerState(issuer) })
  }

  get(patterns.trustedIssuer, async (request) => ({ page: await showIssuer(request) }))

  post(patterns.trustedIssuer, async (request): Promise<PortalResponse> => {
    const { id } = await issuerOf(request)
    const again = async (errors: FormState['errors']) => ({
      page: await showIssuer(request, { values: texts(request.form), errors }),
      status: 422,
    })
    const settings = readIssuer(request.form)
    if (!settings.data) return again(settings.errors)
    const { data } = settings
    return saved(
      async () => {
        await perform(actorOf(request), (act) =>
          changeTrustedIssuer(act, id, (current) => {
            checkRevision('The trusted issuer', issuerRevision(current), seenRevision(request.form))
            return { ...data, rules: [...current.rules] }
          }),
        )
        return { redirectTo: request.paths.trustedIssuer(id), notice: 'trusted_issuer_changed' }
      },
      (message) => again({ issuer: message }),
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
    const preset = presetOf(issuer.issuer, issuer.rules)
    const values = rule
      ? { ...claimValues(rule.claims), application: rule.clientId }
      : { ...(preset && presetValues(preset)), application: String(request.query['application'] ?? '') }
    const state = given ?? { values, errors: {} }
    return rulePage(request, { issuer, rule, preset, state, offered: await offered() })
  }

  async function saveRule(request: RuleRequest): Promise<PortalResponse> {
    const issuer = await issuerOf(request)
    const current = ruleOf(issuer, request.params.rule)
    const again = async (errors: FormState['errors']) => ({
      page: await showRule(request, { values: texts(request.form), errors }),
      status: 422,
    })
    const rule = await ruleIn(request.form, issuer.issuer)
    if (!rule.data) return again(rule.errors)
    const { data } = rule
    return saved(
      async () => {
        await perform(actorOf(request), (act) =>
          changeTrustedIssuer(act, issuer.id, (stored) => {
            const { rules } = stored
            if (!current) return { ...stored, rules: [...rules, data] }
            // The ID of a rule is that of its content.
            if (!rules.some((each) => ruleId(each) === ruleId(current)))
              throw new ChangedMeanwhile('The rule')
            return { ...stored, rules: rules.map((each) => (ruleId(each) === ruleId(current) ? data : each)) }
          }),
        )
        const notice = current ? 'identity_rule_changed' : 'identity_rule_added'
        return { redirectTo: request.paths.trustedIssuer(issuer.id), notice }
      },
      (message) => again({ application: message }),
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
          changeTrustedIssuer(act, issuer.id, (stored) => ({
            ...stored,
            rules: stored.rules.filter((each) => !removed || ruleId(each) !== ruleId(removed)),
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

type Applications = ReadonlyMap<string, RegisteredClient>
/** Client IDs, and how a list of them calls them. */
type Offered = readonly (readonly [clientId: string, label: string])[]
type IssuerRequest = DeveloperRequest & { readonly params: { readonly id: string } }
type RuleRequest = DeveloperRequest & { readonly params: { readonly id: string; readonly rule?: string } }

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
        const label = presetOf(issuer.issuer, issuer.rules)?.title
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

/** Pages that the menu finds under the trusted issuers. */
function belongsTo({ trustedIssuers }: Paths) {
  return { trail: [['Trusted issuers', trustedIssuers]] as const, section: trustedIssuers }
}

/** The platform, if all of its customers share the issuer; otherwise, only the URL says whose it is. */
function titleOf({ issuer }: TrustedIssuer): string {
  const preset = presetOf(issuer, [])
  return preset?.issuer === issuer ? preset.title : issuer
}

interface NewIssuerContent {
  readonly preset: Preset | undefined
  readonly state: FormState
  readonly offered: Offered
}

function newIssuerPage(
  { paths, csrfToken }: DeveloperRequest,
  { preset, state, offered }: NewIssuerContent,
): PageContent {
  const { application = '' } = state.values
  const body = html`<nav class="facets" aria-label="Platforms">
      <ul>
        ${presetNames.map((name) => {
          const href = linkTo(paths.newTrustedIssuer, { preset: name, application })
          const { title } = presets[name]
          return html`<li>
            <a href="${href}" ${preset === presets[name] ? html`aria-current="true"` : ''}>${title}</a>
          </li>`
        })}
      </ul>
    </nav>
    <form method="post" action="${paths.newTrustedIssuer}" class="card form">
      ${csrfInput(csrfToken)} ${issuerField(state, preset)} ${ruleFields(state, preset, offered)}
      ${foldedFurtherFields(state)}
      <button>Trust issuer</button>
    </form>`
  return { title: 'Trust an issuer', body, ...belongsTo(paths) }
}

function ruleFields(state: FormState, preset: Preset | undefined, applications: Offered): SafeHtml {
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
    ${claimFields(state, preset)}`
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
  const preset = presetOf(issuer.issuer, issuer.rules)
  const path = paths.trustedIssuer(issuer.id)
  const settings = html`<form method="post" action="${path}" class="card form">
      <h2>Settings</h2>
      ${csrfInput(csrfToken)} ${revisionInput(issuerRevision(issuer), state)} ${issuerField(state, preset)}
      ${furtherFields(state)}
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
    ${whatMachinesSend(request, issuer, preset)} ${issuer.configured ? '' : settings}`
  return { title: titleOf(issuer), body, ...belongsTo(paths) }
}

/** What a machine needs to get a token, ready to copy. */
function whatMachinesSend(
  { baseUrl }: DeveloperRequest,
  { audiences, rules }: TrustedIssuer,
  preset: Preset | undefined,
): SafeHtml {
  const audience = audiences[0] ?? baseUrl
  const [first, another] = new Set(rules.map(({ clientId }) => clientId))
  // One JWT may stand for several applications; the request then names one.
  const client = another === undefined ? '' : ` --data-urlencode 'client_id=${first}'`
  const exchange = `curl -sS '${baseUrl}${tokenPath}?grant_type=${jwtBearer}' --data-urlencode "assertion=$JWT"${client}`
  return html`<section aria-labelledby="send">
    <h2 id="send">What a job sends</h2>
    <p>
      The JWT must be for this audience: ${copyable({ id: 'audience', value: audience, what: 'audience' })}
    </p>
    ${copyButton('job', copyLabel('job'))}
    ${code(preset?.send(audience, exchange) ?? exchange, 'plaintext', 'Job', 'job')}
  </section>`
}

function ruleList(
  { paths, csrfToken }: DeveloperRequest,
  issuer: TrustedIssuer,
  applications: Applications,
): SafeHtml {
  const removal = (rule: IdentityRule) =>
    dialog({
      id: `remove-${ruleId(rule)}`,
      label: html`Remove<span class="visually-hidden"> ${describeClaims(rule.claims).join(', ')}</span>`,
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
      label: 'Claims',
      kind: 'name',
      cell: (rule) => {
        const [name, below] = describeClaims(rule.claims)
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
                about: describeClaims(rule.claims).join(', '),
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
  readonly preset: Preset | undefined
  readonly state: FormState
  readonly offered: Offered
}

function rulePage(
  { paths, csrfToken }: DeveloperRequest,
  { issuer, rule, preset, state, offered }: RuleContent,
): PageContent {
  const action = rule ? paths.identityRule(issuer.id, ruleId(rule)) : paths.newIdentityRule(issuer.id)
  const body = html`<form method="post" action="${action}" class="card form">
    ${csrfInput(csrfToken)} ${ruleFields(state, preset, offered)}
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
