import { Module } from '@nestjs/common'
import { ConfigModule } from '@nestjs/config'
import { APP_FILTER } from '@nestjs/core'
import { TokenModule } from '@tokenwell/nestjs-module'
import { ErrorFilter } from './error.filter.ts'
import { HealthModule } from './health/health.module.ts'
import { PageModule } from './page/page.module.ts'
import { serverApplication, settings } from './settings.ts'
import { SpeechModule } from './speech/speech.module.ts'

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: settings }),
    TokenModule.forRootAsync({ isGlobal: true, ...serverApplication.asProvider() }),
    SpeechModule,
    PageModule,
    HealthModule,
  ],
  providers: [{ provide: APP_FILTER, useClass: ErrorFilter }],
})
export class AppModule {}
