import { Inject, Injectable, type OnModuleInit } from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { requirementsOf } from './requirements.ts'

/** Stops the start of an application in which a handler is both public and not. */
@Injectable()
export class RequirementsCheck implements OnModuleInit {
  readonly #modules: ModulesContainer

  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    this.#modules = modules
  }

  onModuleInit(): void {
    for (const { controllers, providers } of this.#modules.values()) {
      for (const { metatype } of [...controllers.values(), ...providers.values()]) {
        if (typeof metatype === 'function' && metatype.prototype !== undefined) checkHandlers(metatype)
      }
    }
  }
}

function checkHandlers(metatype: object): void {
  const controller = metatype as abstract new () => object
  for (
    let prototype = controller.prototype;
    prototype && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object
  ) {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value === 'function' && value !== controller)
        requirementsOf(value as () => unknown, controller)
    }
  }
}
