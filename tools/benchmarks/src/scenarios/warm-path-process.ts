// One peer in a separate process, so that it is not compiled for another's calls.
import { apiUrl } from '../api.ts'
import { fastestWindow, fastestWindowSync } from '../method/fastest-window.ts'
import { givenArgument, report } from '../method/run-process.ts'
import type { Token } from '../peers/peer.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenEndpoint } = givenArgument() as { id: PeerId; tokenEndpoint: string }
const peer = await loadPeer(id)
const client = await peer.open({ tokenEndpoint, clientId: 'id', clientSecret: 'secret' })
const { getToken, peekToken, callApi } = client
const callPlainly = peer.openPlain?.()
// Not always the same URL: an application requests one order after another.
const urls = Array.from({ length: 16 }, (_, order) => `${apiUrl}/${order}`)
let calls = 0
const nextUrl = (): string => urls[calls++ % urls.length]!

const textOf = (token: Token): string => (typeof token === 'string' ? token : token.value)
const [getNs] = getToken ? await fastestWindow([getToken], textOf) : []
const peekNs = peekToken && fastestWindowSync(peekToken)
const [callNs, plainNs] =
  callApi && callPlainly ? await fastestWindow([() => callApi(nextUrl()), () => callPlainly(nextUrl())]) : []
report({ getNs, peekNs, callNs, plainNs })
