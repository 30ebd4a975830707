// One peer in a process of its own, so that none is compiled with another's calls in mind.
import { apiUrl } from '../api.ts'
import { quietest, quietestSync } from '../method/quietest.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenUrl } = givenArgument() as { id: PeerId; tokenUrl: string }
const peer = await loadPeer(id)
const client = await peer.open({ tokenUrl, clientId: 'id', clientSecret: 'secret' })
const { getToken, peekToken, callApi } = client
const callPlainly = peer.openPlain?.()
// Not always the same address: an application asks for one order after another.
const urls = Array.from({ length: 16 }, (_, order) => `${apiUrl}/${order}`)
let calls = 0
const nextUrl = (): string => urls[calls++ % urls.length]!

const [getNs] = getToken ? await quietest([getToken]) : []
const peekNs = peekToken && quietestSync(peekToken)
const [callNs, plainNs] =
  callApi && callPlainly ? await quietest([() => callApi(nextUrl()), () => callPlainly(nextUrl())]) : []
report({ getNs, peekNs, callNs, plainNs })
