import { Module } from '@nestjs/common'
import { TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { OrdersController } from './orders.controller.js'

const platform = process.env.PLATFORM!

@Module({
  imports: [
    TokenModule.forRoot({ isGlobal: true, authUrl: platform, clientId: 'c', clientSecret: 'secret' }),
    TokenHttpModule.register({ baseURL: `${platform}/api` }),
  ],
  controllers: [OrdersController],
})
export class OrdersModule {}
