import type { createSpeechApi } from '@tokenwell/speech-api'

/** Lets pages of these origins call the speech API from a browser, and read what its refusals say. */
export function allowPages(server: ReturnType<typeof createSpeechApi>, origins: readonly string[]): void {
  // Before everything else, so that refusals carry the headers, too.
  server.server.prependListener('request', ({ headers: { origin } }, response) => {
    if (origin === undefined || !origins.includes(origin)) return
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', 'www-authenticate, retry-after')
    response.setHeader('vary', 'origin')
  })
  server.options('/v1/transcriptions', async (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization, content-type',
        'access-control-max-age': '600',
      })
      .code(204)
      .send(),
  )
}
