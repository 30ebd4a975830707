// One library in a separate process: a token that it has verified before, and tokens that are new to it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { fastestWindow } from '../method/fastest-window.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { jwtLibraries, type JwtLibraryId, type VerifyJwt } from '../verifiers/jwt-libraries.ts'

/** New tokens, each verified once by each of several verifiers. */
const [tokenCount, windowSize, passes] = [1_000, 10, 8]

const { id } = givenArgument() as { id: JwtLibraryId }
const { privateKey, publicKey } = await generateKeyPair('RS256')
const key = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: 'key', use: 'sig' }
const server = createServer((_request, response) => void response.end(JSON.stringify({ keys: [key] })))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const audience = 'https://orders.example.com'
const sign = (jti: string) =>
  new SignJWT({ client_id: 'client', scope: 'orders:read', jti, sub: 'client' })
    .setProtectedHeader({ alg: 'RS256', kid: 'key', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)

const first = await sign('first')
const tokens = await Promise.all(Array.from({ length: tokenCount }, (_, at) => sign(String(at))))
const create = async (): Promise<VerifyJwt> => {
  const verify = jwtLibraries[id].create({ issuer, audience, key })
  if ((await verify(first)) !== 'client') throw new Error(`${id} does not accept its token`)
  const changed = `${first.slice(0, -8)}AAAAAAAA`
  const accepted = await Promise.resolve(verify(changed)).then(
    () => true,
    () => false,
  )
  if (accepted) throw new Error(`${id} accepts a changed token`)
  return verify
}

const known = await create()
const [knownNs] = await fastestWindow([() => known(first)])
let newNs = Infinity
for (let pass = 0; pass < passes; pass++) {
  const verify = await create()
  for (let at = 0; at < tokenCount; at += windowSize) {
    const start = performance.now()
    for (let index = at; index < at + windowSize; index++) await verify(tokens[index]!)
    newNs = Math.min(newNs, ((performance.now() - start) * 1e6) / windowSize)
  }
}
report({ knownNs, newNs })
