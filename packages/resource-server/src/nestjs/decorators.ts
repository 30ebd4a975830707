import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common'
import {
  checkRequirements,
  requiresAnything,
  type TokenRequirements,
  type VerifiedToken,
} from '../checks/requirements.ts'
import type { NodeRequest } from '../http/node-request.ts'

export interface IncomingRequest extends NodeRequest {
  accessToken?: VerifiedToken
  user?: unknown
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

/** Injects the request's `VerifiedToken`; undefined in a `@Public()` handler, and in an `@OptionalToken()` one without a token. */
export const VerifiedAccessToken: () => ParameterDecorator = createParamDecorator(
  (_data: undefined, context): VerifiedToken | undefined => exchangeOf(context).request.accessToken,
)

const REQUIREMENTS = 'tokenwell:requirements'
const OPTIONAL = 'tokenwell:optional'
const PUBLIC = 'tokenwell:public'

type Place = abstract new (...parameters: never[]) => unknown
type Handler = (...parameters: never[]) => unknown

/** Adds to what the place, or a base class of it, requires already. */
function addRequirements(requirements: TokenRequirements): MethodDecorator & ClassDecorator {
  checkRequirements(requirements)
  return (target: object, property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place = (descriptor?.value ?? target) as object
    const all = [...requiredAt(place), requirements]
    SetMetadata(REQUIREMENTS, all)(target as Place, property as string, descriptor as PropertyDescriptor)
  }
}

/** What a handler's token must cover. */
export interface HandlerRequirements {
  readonly and: readonly TokenRequirements[]
  readonly optional: boolean
}

/**
 * What a handler requires; undefined for one that requires no token.
 *
 * @throws {Error} for a handler that is both open and not: it must not be opened by mistake
 */
export function requirementsOf(handler: Handler, controller: Place): HandlerRequirements | undefined {
  const ofHandler = requiredAt(handler)
  const and = [...requiredAt(controller), ...ofHandler]
  const isSet = (key: string, place: object): boolean => Reflect.getMetadata(key, place) === true
  const isPublic = isSet(PUBLIC, handler) || isSet(PUBLIC, controller)
  const optional = isSet(OPTIONAL, handler) || isSet(OPTIONAL, controller)
  const excluded = isSet(PUBLIC, controller) || optional ? and : isPublic ? ofHandler : []
  if (excluded.some(requiresAnything)) {
    throw new Error(
      `${controller.name}.${handler.name} is ${isPublic ? '@Public()' : '@OptionalToken()'} and requires products, scopes or claims. Remove one of the decorators.`,
    )
  }
  return isPublic ? undefined : { and, optional }
}

function requiredAt(place: object): readonly TokenRequirements[] {
  return (Reflect.getMetadata(REQUIREMENTS, place) as readonly TokenRequirements[] | undefined) ?? []
}

/** The metadata key under which `@nestjs/swagger` stores `@ApiBearerAuth()`. */
const SWAGGER_SECURITY = 'swagger/apiSecurity'

type Decorator = MethodDecorator & ClassDecorator

/** The token must cover these API products, and what other decorators, the controller and its base class require. */
export function RequireProducts(...products: readonly string[]): Decorator {
  return Require({ products })
}

/** The token must cover these scopes, and what other decorators, the controller and its base class require. */
export function RequireScopes(...scopes: readonly string[]): Decorator {
  return Require({ scopes })
}

/**
 * The token must cover this, and what other decorators, the controller and its base class require.
 *
 * @example
 * @Require({ anyScope: ['orders:read', 'orders:admin'], claims: { idtyp: 'app' } })
 */
export function Require(requirements: TokenRequirements): Decorator {
  return applyDecorators(addRequirements(requirements), SetMetadata(SWAGGER_SECURITY, [{ bearer: [] }]))
}

/** Requests without a token are accepted, too; beside a requirement, the application does not start. */
export function OptionalToken(): Decorator {
  return applyDecorators(SetMetadata(OPTIONAL, true), SetMetadata(SWAGGER_SECURITY, [{ bearer: [] }, {}]))
}

/** Requires no access token, whatever the controller requires; beside a requirement, the application does not start. */
export function Public(): Decorator {
  return applyDecorators(SetMetadata(PUBLIC, true), SetMetadata(SWAGGER_SECURITY, [{}]))
}
