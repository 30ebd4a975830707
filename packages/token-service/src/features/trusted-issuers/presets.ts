import type { ClaimPatterns, IdentityRule } from '../../storage/application.ts'

/** One of these claims must say this. */
interface Requirement {
  /** As messages name it. */
  readonly what: string
  readonly anyOf: Readonly<Record<string, RegExp>>
}

/** A platform that issues JWTs to machines. */
export interface Preset {
  readonly title: string
  /** Its issuers: exactly one, or the form of those that each customer has. */
  readonly issuers: RegExp
  /** Claims that only its JWTs have, for issuers with any name. */
  readonly marks?: RegExp | undefined
  /** The issuer, if there is one for all. */
  readonly issuer?: string | undefined
  readonly issuerExample: string
  /** Claims that a new rule begins with, each with an example. */
  readonly claims: Readonly<Record<string, string>>
  /** What people paste as the value of a claim; the first group is the value. */
  readonly pasted?: Readonly<Record<string, RegExp>> | undefined
  /**
   * What a rule must say about the owner of the machines. Other customers of the platform have JWTs of the same issuer,
   * or of the same cluster: a rule without an owner accepts theirs.
   */
  readonly requires: readonly Requirement[]
  /** How a machine requests its JWT, and sends it. */
  readonly send: (audience: string, exchange: string) => string
}

const one = /^[^*]+$/
const account = /^system:serviceaccount:[^:*]+:[^:*]+$/

/** Between the names of a claim within a claim: names contain dots, slashes and colons, but not this. */
export const within = ' > '

const metadataServer = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default'

export const presets = {
  github: {
    title: 'GitHub Actions',
    issuers: /^https:\/\/token\.actions\.githubusercontent\.com(\/|$)/,
    issuer: 'https://token.actions.githubusercontent.com',
    issuerExample: 'https://token.actions.githubusercontent.com',
    claims: { repository: 'example/orders', ref: 'refs/heads/main' },
    pasted: {
      repository:
        /^(?:https:\/\/(?:www\.)?github\.com\/|git@github\.com:)([^/]+\/[^/?#]+?)(?:\.git)?(?:[/?#].*)?$/,
    },
    requires: [
      {
        what: 'the repository, such as example/orders, or the repository_id or repository_owner_id',
        anyOf: {
          repository: /^[\w.-]+\/[\w.-]+$/,
          repository_id: /^\d+$/,
          repository_owner_id: /^\d+$/,
          sub: /^repo:[^/:*]+\/[^/:*]+:/,
        },
      },
    ],
    send: (audience, exchange) => `permissions:
  id-token: write
steps:
  - run: |
      JWT=$(curl -sS -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
        "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(audience)}" | jq -r .value)
      ${exchange}`,
  },
  gitlab: {
    title: 'GitLab',
    issuers: /^https:\/\/gitlab\.com\/?$/,
    issuer: 'https://gitlab.com',
    issuerExample: 'https://gitlab.com',
    claims: { project_path: 'example/orders', ref_protected: 'true' },
    pasted: {
      project_path:
        /^(?:https:\/\/gitlab\.com\/|git@gitlab\.com:)([^?#]+?)(?:\.git)?(?:\/-\/.*|\/?(?:[?#].*)?)$/,
    },
    requires: [
      {
        what: 'the project_path, such as example/orders, the namespace_path, or the ID of one of them',
        anyOf: {
          project_path: /^[\w.-]+(\/[\w.-]+)*\/([\w.-]+|\*)$/,
          project_id: /^\d+$/,
          namespace_path: /^[\w.-]+(\/[\w.-]+)*(\/\*)?$/,
          namespace_id: /^\d+$/,
          sub: /^project_path:[^:*]+\/[^:*]+:/,
        },
      },
    ],
    send: (audience, exchange) => `orders:
  id_tokens:
    JWT:
      aud: ${audience}
  script:
    - ${exchange}`,
  },
  kubernetes: {
    title: 'Kubernetes',
    issuers:
      /^https:\/\/(kubernetes\.default\b|oidc[.-]eks\.|container\.googleapis\.com\/|[\w.-]+\.oic\.[\w-]+\.azure\.)/,
    marks: /^(kubernetes\.io > |sub = system:)/,
    issuerExample: 'kubectl get --raw /.well-known/openid-configuration shows it.',
    claims: { sub: 'system:serviceaccount:orders:api' },
    requires: [
      {
        what: 'the namespace, as in sub: system:serviceaccount:NAMESPACE:ACCOUNT',
        anyOf: { sub: account, [`kubernetes.io${within}namespace`]: one },
      },
      {
        what: 'the service account, as in sub: system:serviceaccount:NAMESPACE:ACCOUNT',
        anyOf: {
          sub: account,
          [`kubernetes.io${within}serviceaccount${within}name`]: one,
          [`kubernetes.io${within}serviceaccount${within}uid`]: one,
        },
      },
    ],
    send: (audience, exchange) => `containers:
  - name: orders
    volumeMounts: [{ name: jwt, mountPath: /var/run/jwt }]
    # JWT=$(cat /var/run/jwt/token)
    # ${exchange}
volumes:
  - name: jwt
    projected:
      sources:
        - serviceAccountToken: { path: token, audience: '${audience}' }`,
  },
  entra: {
    title: 'Microsoft Entra',
    issuers:
      /^https:\/\/(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)\//,
    issuerExample: 'https://login.microsoftonline.com/TENANT-ID/v2.0',
    claims: { tid: 'the ID of the tenant', azp: 'the client ID of the application' },
    requires: [
      { what: 'the tenant, tid', anyOf: { tid: one } },
      { what: 'the application, azp or appid', anyOf: { azp: one, appid: one } },
    ],
    send: (audience, exchange) => `JWT=$(curl -sS -H 'Metadata: true' \\
  'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${encodeURIComponent(audience)}' |
  jq -r .access_token)
${exchange}`,
  },
  google: {
    title: 'Google Cloud',
    issuers: /^(https:\/\/)?accounts\.google\.com\/?$/,
    issuer: 'https://accounts.google.com',
    issuerExample: 'https://accounts.google.com',
    claims: { email: 'orders@example.iam.gserviceaccount.com' },
    requires: [
      { what: 'the sub or the email of the service account', anyOf: { sub: one, email: /^[^*]+@[^*]+$/ } },
    ],
    send: (audience, exchange) => `JWT=$(curl -sS -H 'Metadata-Flavor: Google' \\
  '${metadataServer}/identity?format=full&audience=${encodeURIComponent(audience)}')
${exchange}`,
  },
  aws: {
    title: 'AWS',
    issuers: /^https:\/\/[\w-]+\.tokens\.sts\.global\.api\.aws\/?$/,
    issuerExample: 'https://ACCOUNT-UUID.tokens.sts.global.api.aws',
    claims: { sub: 'arn:aws:iam::123456789012:role/orders' },
    requires: [
      {
        what: 'the role, as in sub: arn:aws:iam::ACCOUNT:role/NAME',
        anyOf: { sub: /^arn:[\w-]+:(iam|sts)::\d{12}:[\w-]+\// },
      },
    ],
    send: (audience, exchange) => `JWT=$(aws sts get-web-identity-token --audience '${audience}' \\
  --signing-algorithm ES384 --query WebIdentityToken --output text)
${exchange}`,
  },
} as const satisfies Readonly<Record<string, Preset>>

export type PresetName = keyof typeof presets
export const presetNames = Object.keys(presets) as PresetName[]

/** The platform that an issuer belongs to, by its name or by what one of these rules says. */
export function presetOf(issuer: string, rules: readonly Pick<IdentityRule, 'claims'>[]): Preset | undefined {
  const all: readonly Preset[] = Object.values(presets)
  const said = rules.flatMap(({ claims }) => leaves(claims).map(([name, value]) => `${name} = ${value}`))
  return (
    all.find(({ issuers }) => issuers.test(issuer)) ??
    all.find(({ marks }) => marks !== undefined && said.some((each) => marks.test(each)))
  )
}

/** What a rule does not say, although its platform requires it; `undefined` if nothing is missing. */
export function missingOwner(issuer: string, claims: ClaimPatterns): string | undefined {
  const preset = presetOf(issuer, [{ claims }])
  const said = leaves(claims)
  const missing = preset?.requires.find(
    ({ anyOf }) =>
      !said.some(([name, value]) => Object.hasOwn(anyOf, name) && anyOf[name]?.test(String(value))),
  )
  return missing && `must contain ${missing.what}: ${preset?.title} issues such JWTs to others too`
}

type Leaf = readonly [name: string, value: string | number | boolean]

/** The single values, with the names of the claims that lead to them. */
export function leaves(claims: ClaimPatterns, prefix = ''): Leaf[] {
  return Object.entries(claims).flatMap(([name, value]): Leaf[] =>
    typeof value === 'object' ? leaves(value, `${prefix}${name}${within}`) : [[`${prefix}${name}`, value]],
  )
}
