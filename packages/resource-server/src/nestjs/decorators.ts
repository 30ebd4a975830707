import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common'
import type { TokenRequirements, VerifiedToken } from '../checks/requirements.ts'
import type { NodeRequest } from '../http/node-request.ts'

export interface IncomingRequest extends NodeRequest {
  accessToken?: VerifiedToken
  /** Fastify keeps Node's request here. */
  readonly raw?: NodeRequest
  /** Express keeps the response here, which a GraphQL context may lack. */
  readonly res?: unknown
}

export interface IncomingExchange {
  readonly request: IncomingRequest
  readonly response: unknown
}

/** @throws {Error} for contexts without an HTTP request */
export function exchangeOf(context: ExecutionContext): IncomingExchange {
  const type = context.getType<string>()
  if (type === 'http') {
    const http = context.switchToHttp()
    return { request: http.getRequest<IncomingRequest>(), response: http.getResponse<unknown>() }
  }
  if (type !== 'graphql') {
    throw new Error(
      `TokenGuard cannot check "${type}" messages: they carry no HTTP request. Apply it to HTTP handlers only, or mark this one @Public().`,
    )
  }
  const { req, res } = Object(context.getArgByIndex<unknown>(2)) as { req?: IncomingRequest; res?: unknown }
  if (req?.headers === undefined) {
    throw new Error('TokenGuard requires the HTTP request in the GraphQL context. Add it as `req`.')
  }
  return { request: req, response: res ?? req.res }
}

/** Injects the request's `VerifiedToken`; undefined in a `@Public()` handler. */
export const VerifiedAccessToken: () => ParameterDecorator = createParamDecorator(
  (_data: undefined, context): VerifiedToken | undefined => exchangeOf(context).request.accessToken,
)

const PRODUCTS = 'tokenwell:products'
const SCOPES = 'tokenwell:scopes'
const PUBLIC = 'tokenwell:public'

type Place = abstract new (...parameters: never[]) => unknown
type Handler = (...parameters: never[]) => unknown

/** Adds to what the place, or a base class of it, requires already. */
function addRequirements(key: string, names: readonly string[]): MethodDecorator & ClassDecorator {
  return (target: object, property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place = (descriptor?.value ?? target) as object
    const all = [...new Set([...namesAt(key, place), ...names])]
    SetMetadata(key, all)(target as Place, property as string, descriptor as PropertyDescriptor)
  }
}

/**
 * What a handler's token must cover; undefined for a handler that requires no token.
 *
 * @throws {Error} for a handler that is both public and not: it must not be opened by mistake
 */
export function requirementsOf(handler: Handler, controller: Place): Required<TokenRequirements> | undefined {
  const products = [...namesAt(PRODUCTS, controller), ...namesAt(PRODUCTS, handler)]
  const scopes = [...namesAt(SCOPES, controller), ...namesAt(SCOPES, handler)]
  const isPublic = (place: object): boolean => Reflect.getMetadata(PUBLIC, place) === true
  const conflict =
    (isPublic(handler) && isRequiredAt(handler)) ||
    (isPublic(controller) && products.length + scopes.length > 0)
  if (conflict) {
    throw new Error(
      `${controller.name}.${handler.name} is @Public() and requires products or scopes. Remove one of the decorators.`,
    )
  }
  return isPublic(handler) || isPublic(controller) ? undefined : { products, scopes }
}

function isRequiredAt(place: object): boolean {
  return namesAt(PRODUCTS, place).length + namesAt(SCOPES, place).length > 0
}

function namesAt(key: string, place: object): readonly string[] {
  return (Reflect.getMetadata(key, place) as readonly string[] | undefined) ?? []
}

/** The metadata key under which `@nestjs/swagger` stores `@ApiBearerAuth()`. */
const SWAGGER_SECURITY = 'swagger/apiSecurity'

type Decorator = MethodDecorator & ClassDecorator

/** The token must cover these API products, and those that other decorators, the controller and its base class require. */
export function RequireProducts(...products: readonly string[]): Decorator {
  return applyDecorators(addRequirements(PRODUCTS, products), documented)
}

/** The token must cover these scopes, and those that other decorators, the controller and its base class require. */
export function RequireScopes(...scopes: readonly string[]): Decorator {
  return applyDecorators(addRequirements(SCOPES, scopes), documented)
}

/** Requires no access token, whatever the controller requires; beside a requirement, the application does not start. */
export function Public(): Decorator {
  return applyDecorators(SetMetadata(PUBLIC, true), SetMetadata(SWAGGER_SECURITY, [{}]))
}

const documented = SetMetadata(SWAGGER_SECURITY, [{ bearer: [] }])
