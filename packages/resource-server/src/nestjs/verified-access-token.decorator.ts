import { createParamDecorator } from '@nestjs/common'
import type { VerifiedToken } from '../requirements/verified-token.ts'
import { exchangeOf } from './request-of.ts'

/** Injects the request's `VerifiedToken`; undefined in a `@Public()` handler. */
export const VerifiedAccessToken: () => ParameterDecorator = createParamDecorator(
  (_data: undefined, context): VerifiedToken | undefined => exchangeOf(context).request.accessToken,
)
