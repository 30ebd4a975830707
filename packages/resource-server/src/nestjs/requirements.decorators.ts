import { applyDecorators, SetMetadata } from '@nestjs/common'
import { addRequirements, PRODUCTS, PUBLIC, SCOPES } from './requirements-of.ts'

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
