import { Module } from '@nestjs/common'
import { TokenModule } from '@tokenwell/nestjs-module'
import { pageApplication } from '../settings.ts'
import { TokenStatusModule } from '../token-status/token-status.module.ts'
import { SessionsController } from '../session.ts'
import { PageSettingsController } from './page-settings.controller.ts'
import { PAGE_CLIENT, PageTokenController } from './page-token.controller.ts'

/** What the page needs of its server beside transcriptions. */
@Module({
  imports: [
    TokenModule.forRootAsync({ name: PAGE_CLIENT, ...pageApplication.asProvider() }),
    TokenStatusModule,
  ],
  controllers: [PageSettingsController, PageTokenController, SessionsController],
})
export class PageModule {}
