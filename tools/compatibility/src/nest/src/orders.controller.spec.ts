import { HttpModule } from '@nestjs/axios'
import { Test } from '@nestjs/testing'
import { getTokenProviderToken } from '@tokenwell/nestjs-module'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { OrdersController } from './orders.controller.js'

describe('OrdersController', () => {
  it('uses a token provider without network', async () => {
    const module = await Test.createTestingModule({
      imports: [HttpModule],
      controllers: [OrdersController],
      providers: [
        { provide: getTokenProviderToken(), useFactory: () => createTestTokenProvider({ tokens: ['abc'] }) },
      ],
    }).compile()
    expect(await module.get(OrdersController).token()).toBe('abc')
    await module.close()
  })
})
