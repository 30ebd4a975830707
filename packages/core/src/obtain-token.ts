import { requestToken, type FlightPlan } from './request-token.ts'
import { obtainSharedToken } from './shared-token.ts'
import type { TokenLife } from './token-life.ts'
import { sleep } from './wait.ts'

/** A token by way of the provider's store, if it has one, or straight from its source. */
export async function obtainToken(plan: FlightPlan, delayMs: number): Promise<TokenLife> {
  // At least a turn later: a listener may ask for this very token.
  await (delayMs > 0 ? sleep(delayMs, plan.signal) : undefined)
  const { store } = plan.settings
  return store ? obtainSharedToken(plan, store) : (await requestToken(plan)).life
}
