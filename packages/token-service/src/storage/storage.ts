import type { Application, Project, RegisteredClient, StoredSecret } from '../applications/application.ts'

/** An access token as it is kept: its digest, never the token itself. */
export interface StoredToken {
  readonly hash: string
  readonly applicationId: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

export interface ApplicationStorage {
  findClient(clientId: string): Promise<RegisteredClient | undefined>
  listProjects(): Promise<Project[]>
  createProject(project: Project): Promise<void>
  listClients(projectId: string): Promise<RegisteredClient[]>
  createApplication(application: Application): Promise<void>
  updateApplication(id: string, changes: ApplicationChanges): Promise<void>
  addSecret(secret: StoredSecret): Promise<void>
  removeSecret(id: string): Promise<void>
}

export type ApplicationChanges = Partial<
  Pick<Application, 'name' | 'status' | 'products' | 'level' | 'responseForm' | 'lifetimeSeconds'>
>

export interface TokenStorage {
  /** Settles once the token would survive a crash of the service. */
  save(token: StoredToken): Promise<void>
  find(hash: string): Promise<{ token: StoredToken; application: Application } | undefined>
  remove(hash: string): Promise<void>
  /** Deletes what expired before `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}

/** Everything the service keeps, behind one interface. */
export interface Storage {
  readonly applications: ApplicationStorage
  readonly tokens: TokenStorage
  /** Rejects when the storage cannot be reached. */
  ready(): Promise<void>
  close(): Promise<void>
}
