import { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { getTokenProviderToken } from '@tokenwell/nestjs-module'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import request from 'supertest'
import { App } from 'supertest/types.js'
import { AppModule } from './../src/app.module.js'

describe('orders (e2e)', () => {
  let app: INestApplication<App>
  afterEach(() => app.close())

  it('sends a token', async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
    app = module.createNestApplication()
    await app.init()
    await request(app.getHttpServer()).get('/orders').expect(200, 'tea, cups')
  })

  it('takes a test token provider instead', async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(getTokenProviderToken())
      .useFactory({ factory: () => createTestTokenProvider({ tokens: ['abc'] }) })
      .compile()
    app = module.createNestApplication()
    await app.init()
    await request(app.getHttpServer()).get('/orders/token').expect(200, 'abc')
  })
})
