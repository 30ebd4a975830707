export interface RunningTokenService {
  /** The base URL of the service's endpoints, which clients are configured with. */
  readonly authUrl: string
  /** The base URL of the administrators' endpoints. */
  readonly adminUrl?: string | undefined
  /** The base URL of the sandbox's control endpoints. */
  readonly sandboxUrl?: string | undefined
  /**
   * Creates a link for the portal's first developer, who becomes the administrator. The link works only once and
   * expires after 15 minutes. Returns `undefined` once there is an administrator, or without a portal.
   */
  createSetupLink(): Promise<string | undefined>
  /**
   * Creates a link to set a new password for this developer. The link works only once and expires after 15 minutes.
   *
   * @throws {@link UsageError} if there is no such developer, or no portal
   */
  createPasswordLink(developerName: string): Promise<string>
  /**
   * Finishes the pending requests, writes pending activity and stops.
   *
   * @param options `drainSeconds`: how long the service first keeps serving requests while `/readyz` responds with 503, so
   * that load balancers stop sending requests. Default 0
   */
  close(options?: { readonly drainSeconds?: number | undefined }): Promise<void>
}
