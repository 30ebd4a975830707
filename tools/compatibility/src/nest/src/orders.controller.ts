import { HttpService } from '@nestjs/axios'
import { Controller, Get } from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { firstValueFrom } from 'rxjs'

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly http: HttpService,
    @InjectTokens() private readonly tokens: TokenProvider,
  ) {}

  @Get()
  async list(): Promise<string> {
    const { data } = await firstValueFrom(this.http.get<{ item: string }[]>('/v1/orders'))
    return data.map(({ item }) => item).join(', ')
  }

  @Get('token')
  async token(): Promise<string> {
    return (await this.tokens.getToken()).value
  }
}
