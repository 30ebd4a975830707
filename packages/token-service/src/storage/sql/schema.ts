import { bigint, boolean, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'

// What the migrations build; times are milliseconds since the epoch.

const milliseconds = (name: string) => bigint(name, { mode: 'number' })

export const projects = pgTable('projects', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  organizationName: text('organization_name').notNull(),
  developerEmail: text('developer_email').notNull(),
  createdAtMs: milliseconds('created_at').notNull(),
})

export const applications = pgTable('applications', {
  id: uuid('id').primaryKey(),
  projectId: uuid('project_id')
    .notNull()
    .references(() => projects.id),
  name: text('name').notNull(),
  clientId: text('client_id').notNull().unique(),
  status: text('status', { enum: ['approved', 'pending', 'revoked'] }).notNull(),
  products: text('products').array().notNull(),
  level: text('level').notNull(),
  responseForm: text('response_form', { enum: ['products', 'refresh'] }).notNull(),
  lifetimeSeconds: integer('lifetime_seconds').notNull(),
  createdAtMs: milliseconds('created_at').notNull(),
})

export const secrets = pgTable(
  'secrets',
  {
    id: uuid('id').primaryKey(),
    applicationId: uuid('application_id')
      .notNull()
      .references(() => applications.id),
    keyId: text('key_id').notNull(),
    hash: text('hash').notNull(),
    prefix: text('prefix').notNull(),
    createdAtMs: milliseconds('created_at').notNull(),
    expiresAtMs: milliseconds('expires_at'),
    lastUsedAtMs: milliseconds('last_used_at'),
  },
  (table) => [index('secrets_application').on(table.applicationId)],
)

export const tokens = pgTable(
  'tokens',
  {
    hash: text('hash').primaryKey(),
    // No foreign key: applications are never deleted, and it would cost every token a look at its application.
    applicationId: uuid('application_id').notNull(),
    issuedAtMs: milliseconds('issued_at').notNull(),
    expiresAtMs: milliseconds('expires_at').notNull(),
  },
  (table) => [index('tokens_expiry').on(table.expiresAtMs)],
)

export const failures = pgTable('failures', {
  key: text('key').primaryKey(),
  count: integer('count').notNull(),
  resetsAtMs: milliseconds('resets_at').notNull(),
})

export const usage = pgTable(
  'usage',
  {
    applicationId: uuid('application_id').notNull(),
    hourMs: milliseconds('hour').notNull(),
    tokens: integer('tokens').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.hourMs] })],
)

export const audit = pgTable('audit', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  atMs: milliseconds('at').notNull(),
  event: text('event').notNull(),
  clientId: text('client_id'),
  address: text('address'),
  detail: text('detail'),
  count: integer('count').notNull(),
})

export const developers = pgTable('developers', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  passwordHash: text('password_hash').notNull(),
  administrator: boolean('administrator').notNull(),
  createdAtMs: milliseconds('created_at').notNull(),
})

export const invitations = pgTable('invitations', {
  hash: text('hash').primaryKey(),
  administrator: boolean('administrator').notNull(),
  expiresAtMs: milliseconds('expires_at').notNull(),
})

export const passwordLinks = pgTable('password_links', {
  hash: text('hash').primaryKey(),
  developerId: uuid('developer_id').notNull(),
  expiresAtMs: milliseconds('expires_at').notNull(),
})

export const memberships = pgTable(
  'memberships',
  {
    developerId: uuid('developer_id').notNull(),
    projectId: uuid('project_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.developerId, table.projectId] })],
)

export const sessions = pgTable('sessions', {
  hash: text('hash').primaryKey(),
  developerId: uuid('developer_id').notNull(),
  expiresAtMs: milliseconds('expires_at').notNull(),
})
