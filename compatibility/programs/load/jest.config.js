const typescript = { testMatch: ['<rootDir>/jest/*.test.ts'], testEnvironment: 'node' }

module.exports = {
  projects: [
    {
      displayName: 'JavaScript',
      testMatch: ['<rootDir>/jest/*.test.js'],
      transform: {},
      testEnvironment: 'node',
    },
    {
      displayName: 'ts-jest',
      ...typescript,
      transform: { '\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json' }] },
    },
    {
      displayName: 'SWC',
      ...typescript,
      transform: {
        '\\.ts$': [
          '@swc/jest',
          {
            jsc: {
              parser: { syntax: 'typescript', decorators: true },
              transform: { legacyDecorator: true, decoratorMetadata: true },
              target: 'es2022',
            },
            module: { type: 'commonjs' },
          },
        ],
      },
    },
  ],
}
