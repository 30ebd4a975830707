import { introspectionPath, tokenPath } from '../../oauth/endpoint-paths.ts'
import { quoted, requestSnippets, type Snippet } from './request-snippets.ts'

export interface ClientOfService {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The first token: with curl, with our libraries, which keep the token ready, and with other languages. */
export function tokenSnippets(client: ClientOfService): Snippet[] {
  const { baseUrl, clientId, clientSecret } = client
  const url = `${baseUrl}${tokenPath}?grant_type=client_credentials`
  const form = { client_id: clientId, client_secret: clientSecret }
  const [curl, , ...others] = requestSnippets({ url, form })
  return [
    curl!,
    ...librarySnippets.map((snippet) => ({
      ...snippet,
      language: 'typescript' as const,
      code: snippet.code(client),
    })),
    ...others,
  ]
}

/** The request of an API that checks a token. */
export function introspectionSnippets({ baseUrl, clientId, clientSecret }: ClientOfService): Snippet[] {
  const form = { client_id: clientId, client_secret: clientSecret, token: 'YOUR_ACCESS_TOKEN' }
  return requestSnippets({ url: `${baseUrl}${introspectionPath}`, form })
}

/** @param prefix of the names: an API may have credentials of its own beside those for the APIs that it calls */
export function environmentFile({ baseUrl, clientId, clientSecret }: ClientOfService, prefix = ''): string {
  return `AUTH_URL=${baseUrl}\n${prefix}CLIENT_ID=${clientId}\n${prefix}CLIENT_SECRET=${clientSecret}`
}

function provider({ baseUrl, clientId, clientSecret }: ClientOfService): string {
  return `const tokens = createTokenProvider(
  clientCredentials({
    authUrl: ${quoted(baseUrl)},
    clientId: ${quoted(clientId)},
    // In your program: process.env.CLIENT_SECRET
    clientSecret: ${quoted(clientSecret)},
  }),
);`
}

const librarySnippets = [
  {
    id: 'typescript',
    label: 'fetch',
    code: (
      client: ClientOfService,
    ) => `import { clientCredentials, createTokenFetch, createTokenProvider } from "@tokenwell/core";

${provider(client)}
const { value } = await tokens.getToken();
console.log(value);

// fetch with a token, for the origins that you allow:
export const apiFetch = createTokenFetch(tokens, { allowedOrigins: ["https://api.example.com"] });`,
  },
  {
    id: 'axios',
    label: 'axios',
    code: (client: ClientOfService) => `import { attachTokens } from "@tokenwell/axios-interceptor";
import { clientCredentials, createTokenProvider } from "@tokenwell/core";
import axios from "axios";

${provider(client)}
const api = axios.create({ baseURL: "https://api.example.com" });
attachTokens(api, tokens);`,
  },
  {
    id: 'ky',
    label: 'ky',
    code: (
      client: ClientOfService,
    ) => `import { clientCredentials, createTokenProvider } from "@tokenwell/core";
import { tokenHooks } from "@tokenwell/ky-hook";
import ky from "ky";

${provider(client)}
const prefix = "https://api.example.com";
const api = ky.extend({ prefix }).extend(tokenHooks(tokens, { allowedOrigins: [prefix] }));`,
  },
  {
    id: 'nestjs',
    label: 'NestJS',
    code: ({ baseUrl, clientId, clientSecret }: ClientOfService) => `import { Module } from "@nestjs/common";
import { TokenModule } from "@tokenwell/nestjs-module";
import { TokenHttpModule } from "@tokenwell/nestjs-module/axios";

const tokens = TokenModule.forRoot({
  isGlobal: true,
  authUrl: ${quoted(baseUrl)},
  clientId: ${quoted(clientId)},
  // In your program: process.env.CLIENT_SECRET
  clientSecret: ${quoted(clientSecret)},
});

@Module({ imports: [tokens, TokenHttpModule.register({ baseURL: "https://api.example.com" })] })
export class AppModule {}`,
  },
]
