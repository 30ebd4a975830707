// Each transport of the installed Nest, with `TokenErrorFilter` and a token endpoint that is down: every caller gets an
// error soon, the log has the reason, and the server is still there for the next caller.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { createServer } = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

// Nest is installed in the folder of the program that runs this file.
const load = createRequire(join(process.cwd(), 'package.json'))
load('reflect-metadata')
const { Controller, Get, Inject, Module, UseFilters } = load('@nestjs/common')
const { APP_FILTER, NestFactory } = load('@nestjs/core')
const micro = load('@nestjs/microservices')
const { SubscribeMessage, WebSocketGateway } = load('@nestjs/websockets')
const { GraphQLModule, Query, Resolver } = load('@nestjs/graphql')
const { ApolloDriver } = load('@nestjs/apollo')
const { TokenError } = load('@tokenwell/core')
const { TokenErrorFilter } = load('@tokenwell/nestjs-module')
const { firstValueFrom, throwError, timeout } = load('rxjs')

const unavailable = { status: 'error', message: 'Service Unavailable' }
const misconfigured = { status: 'error', message: 'Bad Gateway' }
const fail = async (kind) => {
  throw new TokenError({ kind, message: `secret-host is down (${kind})` })
}
const failures = []
process.on('unhandledRejection', (error) => failures.push(error))
process.on('uncaughtException', (error) => failures.push(error))

/** Adds decorators without the syntax, which Node does not know. */
function decorate(Class, classDecorators, methods) {
  for (const [name, decorator] of Object.entries(methods)) {
    const descriptor = Object.getOwnPropertyDescriptor(Class.prototype, name)
    Reflect.defineMetadata('design:paramtypes', [], Class.prototype, name)
    decorator(Class.prototype, name, descriptor)
  }
  for (const decorator of classDecorators) decorator(Class)
  return Class
}

let events = 0
const Orders = decorate(
  class {
    message() {
      return fail('unavailable')
    }
    configuration() {
      return fail('configuration')
    }
    observable() {
      return throwError(() => new TokenError({ kind: 'unavailable', message: 'secret-host is down' }))
    }
    event() {
      events++
      return fail('unavailable')
    }
    unary() {
      return fail('unavailable')
    }
    unaryConfiguration() {
      return fail('configuration')
    }
    stream() {
      return throwError(() => new TokenError({ kind: 'unavailable', message: 'secret-host is down' }))
    }
    http() {
      return fail('unavailable')
    }
  },
  [Controller()],
  {
    message: micro.MessagePattern('message'),
    configuration: micro.MessagePattern('configuration'),
    observable: micro.MessagePattern('observable'),
    event: micro.EventPattern('event'),
    unary: micro.GrpcMethod('Orders', 'Unary'),
    unaryConfiguration: micro.GrpcMethod('Orders', 'UnaryConfiguration'),
    stream: micro.GrpcMethod('Orders', 'Stream'),
    http: Get(),
  },
)

const providers = [{ provide: APP_FILTER, useClass: TokenErrorFilter }]
const AppModule = decorate(class {}, [Module({ controllers: [Orders], providers })], {})

const logged = []
const log = (text) => void logged.push(String(text))
const logger = { log() {}, warn: log, error: log }
const tcp = async () => ({
  transport: micro.Transport.TCP,
  options: { host: '127.0.0.1', port: await freePort() },
})

const checks = {
  async 'TCP, pure'() {
    const options = await tcp()
    const app = await NestFactory.createMicroservice(AppModule, { ...options, logger })
    await app.listen()
    await checkTcp(options)
    await app.close()
  },
  async 'TCP, hybrid'() {
    const app = await NestFactory.create(AppModule, { logger })
    const options = await tcp()
    app.connectMicroservice(options, { inheritAppConfig: true })
    await app.startAllMicroservices()
    await app.listen(0, '127.0.0.1')
    await checkTcp(options)
    const response = await fetch(await app.getUrl())
    assert.equal(response.status, 503)
    assert.deepEqual(await response.json(), { statusCode: 503, message: 'Service Unavailable' })
    await app.close()
  },
  async gRPC() {
    const protoPath = join(tmpdir(), `orders-${process.pid}.proto`)
    writeFileSync(
      protoPath,
      `syntax = "proto3"; package orders; message Nothing {} service Orders {
      rpc Unary (Nothing) returns (Nothing); rpc UnaryConfiguration (Nothing) returns (Nothing);
      rpc Stream (Nothing) returns (stream Nothing); }`,
    )
    const options = { package: 'orders', protoPath, url: `127.0.0.1:${await freePort()}` }
    const transport = micro.Transport.GRPC
    const app = await NestFactory.createMicroservice(AppModule, { transport, options, logger })
    await app.listen()
    const client = micro.ClientProxyFactory.create({ transport, options })
    const orders = client.getService('Orders')
    for (const name of ['unary', 'stream', 'unary']) {
      const error = await errorOf(orders[name]({}))
      assert.deepEqual(
        { code: error.code, details: error.details },
        { code: 14, details: 'Service Unavailable' },
      )
    }
    const error = await errorOf(orders.unaryConfiguration({}))
    assert.deepEqual({ code: error.code, details: error.details }, { code: 13, details: 'Bad Gateway' })
    client.close()
    await app.close()
  },
  async 'Socket.IO'() {
    const { IoAdapter } = load('@nestjs/platform-socket.io')
    const { io } = load('socket.io-client')
    await withGateway(IoAdapter, async (url) => {
      const socket = io(url, { transports: ['websocket'] })
      for (let count = 0; count < 2; count++) {
        const exception = new Promise((resolve) => socket.once('exception', resolve))
        socket.emit('orders', {})
        assert.deepEqual(await exception, unavailable)
      }
      socket.close()
    })
  },
  async 'native WebSocket'() {
    const { WsAdapter } = load('@nestjs/platform-ws')
    const { WebSocket } = load('ws')
    await withGateway(WsAdapter, async (url) => {
      const socket = new WebSocket(url.replace('http', 'ws'))
      await once(socket, 'open')
      for (let count = 0; count < 2; count++) {
        const message = once(socket, 'message')
        socket.send(JSON.stringify({ event: 'orders', data: {} }))
        const [text] = await message
        assert.deepEqual(JSON.parse(text), { event: 'exception', data: unavailable })
      }
      socket.close()
    })
  },
  async GraphQL() {
    const OrdersResolver = decorate(
      class {
        orders() {
          return fail('unavailable')
        }
      },
      [Resolver()],
      { orders: Query(() => String, { nullable: true }) },
    )
    const imports = [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })]
    const GraphModule = decorate(
      class {},
      [Module({ imports, providers: [...providers, OrdersResolver] })],
      {},
    )
    const app = await NestFactory.create(GraphModule, { logger })
    await app.listen(0, '127.0.0.1')
    const response = await fetch(`${await app.getUrl()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ orders }' }),
    })
    const text = await response.text()
    assert.equal(JSON.parse(text).errors[0].message, 'Service Unavailable')
    assert.ok(!text.includes('secret-host'), text)
    await app.close()
  },
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function checkTcp(options) {
  const client = micro.ClientProxyFactory.create(options)
  for (const pattern of ['message', 'observable', 'message'])
    assert.deepEqual(await errorOf(client.send(pattern, {})), unavailable)
  assert.deepEqual(await errorOf(client.send('configuration', {})), misconfigured)
  const before = events
  await firstValueFrom(client.emit('event', {}), { defaultValue: undefined })
  // Messages of one connection are handled in their order.
  assert.deepEqual(await errorOf(client.send('message', {})), unavailable)
  assert.equal(events, before + 1)
  await client.close()
}

async function errorOf(result$) {
  return firstValueFrom(result$.pipe(timeout(5000))).then(
    () => assert.fail('The caller got no error'),
    (error) => error,
  )
}

async function withGateway(Adapter, use) {
  // Filters of the application do not reach gateways.
  const Gateway = decorate(
    class {
      orders() {
        return fail('unavailable')
      }
    },
    [WebSocketGateway(), UseFilters(TokenErrorFilter)],
    { orders: SubscribeMessage('orders') },
  )
  const GatewayModule = decorate(class {}, [Module({ providers: [Gateway] })], {})
  const app = await NestFactory.create(GatewayModule, { logger })
  app.useWebSocketAdapter(new Adapter(app))
  await app.listen(0, '127.0.0.1')
  await use(await app.getUrl())
  await app.close()
}

async function main() {
  for (const [name, check] of Object.entries(checks)) {
    logged.length = 0
    try {
      await check()
      // A rejection that nobody handles is reported after the current turn.
      await new Promise(setImmediate)
      assert.deepEqual(failures.splice(0), [])
      assert.ok(
        logged.some((text) => text.includes('secret-host is down')),
        'the reason is not in the log',
      )
      console.log(`${name}: ok`)
    } catch (error) {
      console.error(`${name}: ${error.stack}`, logged)
      process.exitCode = 1
    }
  }
  process.exit()
}

void main()
