import { requestToken } from '../test-service.ts'

/** Requests tokens through 16 connections until `enough` is true; returns the tokens, and the number of responses with each status. */
export async function issueTokens(
  authUrl: string,
  enough: (statuses: Map<number, number>, tokens: string[]) => boolean,
): Promise<{ tokens: string[]; statuses: Map<number, number> }> {
  const tokens: string[] = []
  const statuses = new Map<number, number>()
  async function client(): Promise<void> {
    while (!enough(statuses, tokens)) {
      const { status, body } = await requestToken(authUrl)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) tokens.push(body.access_token)
    }
  }
  await Promise.all(Array.from({ length: 16 }, client))
  return { tokens, statuses }
}
