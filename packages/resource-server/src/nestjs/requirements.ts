import { SetMetadata, applyDecorators } from '@nestjs/common'
import type { TokenRequirements } from '../requirements/find-insufficient-scope.ts'

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
