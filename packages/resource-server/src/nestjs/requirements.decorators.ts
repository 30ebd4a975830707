import { applyDecorators, SetMetadata } from '@nestjs/common'

export const PRODUCTS = 'tokenwell:products'
export const SCOPES = 'tokenwell:scopes'
export const PUBLIC = 'tokenwell:public'
/** The metadata key under which `@nestjs/swagger` stores `@ApiBearerAuth()`. */
const SWAGGER_SECURITY = 'swagger/apiSecurity'

type Decorator = MethodDecorator & ClassDecorator

/** The token must cover these API products, and those that the controller requires. */
export function RequireProducts(...products: readonly string[]): Decorator {
  return applyDecorators(SetMetadata(PRODUCTS, products), documented)
}

/** The token must cover these scopes, and those that the controller requires. */
export function RequireScopes(...scopes: readonly string[]): Decorator {
  return applyDecorators(SetMetadata(SCOPES, scopes), documented)
}

/** Requires no access token. */
export function Public(): Decorator {
  return applyDecorators(SetMetadata(PUBLIC, true), SetMetadata(SWAGGER_SECURITY, [{}]))
}

const documented = SetMetadata(SWAGGER_SECURITY, [{ bearer: [] }])
