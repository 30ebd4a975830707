/** The configurations that the documentation shows are in `app`. */
const documented = (name, testMatch) => ({
  ...require(`./app/${name}.js`),
  displayName: name,
  testMatch: [`<rootDir>/jest/${testMatch}`],
})

module.exports = {
  projects: [
    {
      displayName: 'JavaScript',
      testMatch: ['<rootDir>/jest/javascript.test.js'],
      transform: {},
      testEnvironment: 'node',
    },
    documented('ts-jest', 'typescript.test.ts'),
    documented('SWC', 'typescript.test.ts'),
    documented('ky', 'es-modules-only.test.js'),
    documented('ky with ts-jest', 'es-modules-only.test.js'),
  ],
}
