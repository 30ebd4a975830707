/** An application to which a user adds a package, following its README. */
export interface Application {
  readonly title: string
  readonly package: string
  readonly manager: 'npm' | 'pnpm'
  readonly module: 'ES modules' | 'CommonJS'
  /** The existing dependencies of the application. */
  readonly has?: readonly string[]
  /** Code after the quick start, in the same file. */
  readonly afterwards?: string
  /** A separate entry, which imports the quick start. */
  readonly entry?: string
  /** Requests that must reach the API. */
  readonly requests?: readonly string[]
}

const orders = ['GET /v1/orders']

const nestEntry = `import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Controller, Get, Inject, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { firstValueFrom } from 'rxjs'
import { AppModule } from './quick-start.js'

@Controller()
class OrdersController {
  private readonly http: HttpService
  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http
  }
  @Get('orders')
  async orders(): Promise<unknown> {
    return (await firstValueFrom(this.http.get('/v1/orders'))).data
  }
}
Module({ controllers: [OrdersController] })(AppModule)

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'], abortOnError: false })
  await app.listen(0, '127.0.0.1')
  const { status } = await fetch(\`\${await app.getUrl()}/orders\`)
  await app.close()
  if (status !== 200) throw new Error(\`The application responded \${status}\`)
}
void main()
`

const nest = (major: number) => ({
  has: [
    ...['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${major}`),
    'reflect-metadata',
    'rxjs',
  ],
  entry: nestEntry,
  requests: orders,
})

const particulars: Record<string, Partial<Application>> = {
  '@tokenwell/core': { requests: orders },
  '@tokenwell/axios-interceptor': { requests: orders },
  '@tokenwell/ky-hook': { requests: orders },
  '@tokenwell/resource-server': { has: ['express', '@types/express'] },
  '@tokenwell/testing': { has: ['@tokenwell/core'] },
  tokenwell: { requests: orders },
  '@tokenwell/nestjs-module': nest(12),
  '@tokenwell/token-stores': { afterwards: 'await tokens.getToken()\nclient.destroy()\n' },
}

/** Each package as an ES module installed by npm and as CommonJS installed by pnpm, and some special cases. */
export function applications(names: readonly string[]): Application[] {
  const name = (full: string) => full.replace(/^.*\//, '')
  return [
    ...names.flatMap((full): Application[] => [
      { title: name(full), package: full, manager: 'npm', module: 'ES modules', ...particulars[full] },
      { title: name(full), package: full, manager: 'pnpm', module: 'CommonJS', ...particulars[full] },
    ]),
    {
      title: 'nestjs-module in NestJS 11',
      package: '@tokenwell/nestjs-module',
      manager: 'npm',
      module: 'CommonJS',
      ...nest(11),
    },
  ]
}

/** The commands and the code of a README's quick start. */
export interface QuickStart {
  readonly install: readonly string[]
  readonly language: 'ts' | 'sh'
  readonly code: string
}

/** The first block of TypeScript, or else the block of shell commands after the installation. */
export function quickStart(name: string, readme: string): QuickStart {
  const install = /^npm install (.+)$/m.exec(readme)?.[1]
  const typescript = /```ts\n(.*?)```/s.exec(readme)?.[1]
  const code = typescript ?? [...readme.matchAll(/```sh\n(.*?)```/gs)][1]?.[1]
  if (install === undefined || code === undefined) {
    throw new Error(`The README of ${name} needs a line "npm install …" and an example after it`)
  }
  const words = install.split(' ').filter((word) => !word.startsWith('-'))
  return { install: words, language: typescript === undefined ? 'sh' : 'ts', code }
}

/** CommonJS does not support `await` outside of functions. */
export function asCommonJs(code: string): string {
  if (!/^(?!\s|.*=>).*\bawait /m.test(code)) return code
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const rest = lines.filter((line) => !line.startsWith('import ')).map((line) => line.replace(/^export /, ''))
  return [...imports, 'void (async () => {', ...rest, '})()', ''].join('\n')
}

/** In a page, tokens come from its own backend, as the READMEs recommend. */
export function asPage(code: string): string {
  return code
    .replaceAll(/\bclientCredentials\(\{.*?\}\)/gs, `backendTokens({ url: '/token' })`)
    .replaceAll(/\bclientCredentials\b/g, 'backendTokens')
    .replaceAll(/^const (?:authUrl|clientId|clientSecret) = .*\n/gm, '')
    .replaceAll(/process\.env\.API_URL!?/g, 'location.origin')
}
