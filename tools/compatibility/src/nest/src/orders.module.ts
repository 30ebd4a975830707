import { Module } from '@nestjs/common'
import { TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { OrdersController } from './orders.controller.js'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

@Module({
  imports: [
    TokenModule.forRoot({
      isGlobal: true,
      authUrl: AUTH_URL,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
    }),
    TokenHttpModule.register({ baseURL: API_URL }),
  ],
  controllers: [OrdersController],
})
export class OrdersModule {}
