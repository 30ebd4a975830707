import { Injectable } from '@nestjs/common'

const most = 1000

/** Which session a job belongs to: to the speech API all of them are this server's own. */
@Injectable()
export class JobOwners {
  readonly #sessions = new Map<string, string>()

  add(job: string, session: string): void {
    this.#sessions.set(job, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > most) this.#sessions.delete(oldest!)
  }

  has(job: string, session: string): boolean {
    return this.#sessions.get(job) === session
  }

  forget(job: string): void {
    this.#sessions.delete(job)
  }
}
