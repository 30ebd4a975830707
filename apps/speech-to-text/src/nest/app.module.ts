import { Module } from '@nestjs/common'
import { ConfigModule } from '@nestjs/config'
import { APP_FILTER } from '@nestjs/core'
import { TerminusModule } from '@nestjs/terminus'
import { TokenModule } from '@tokenwell/nestjs-module'
import { HealthController } from './health.controller.js'
import { application, speechApi } from './settings.js'
import { SpeechModule } from './speech.module.js'
import { UpstreamErrorFilter } from './upstream-error.filter.js'

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [application, speechApi] }),
    TokenModule.forRootAsync({ isGlobal: true, ...application.asProvider() }),
    TerminusModule,
    SpeechModule,
  ],
  controllers: [HealthController],
  providers: [{ provide: APP_FILTER, useClass: UpstreamErrorFilter }],
})
export class AppModule {}
