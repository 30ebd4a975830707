module.exports = { testMatch: ['<rootDir>/jest/*.test.mjs'], transform: {}, testEnvironment: 'node' }
