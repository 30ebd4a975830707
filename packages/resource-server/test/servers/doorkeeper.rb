# A token endpoint and an introspection endpoint by Doorkeeper, in one process without files; writes its port on a line.
require 'logger'
require 'action_controller/railtie'
require 'active_record'
require 'doorkeeper'
require 'jwt'
require 'webrick'
require 'rack'

KEY = OpenSSL::PKey::RSA.new(2048)

# JWTs, as the class that Doorkeeper's documentation asks for: it creates the token of each grant.
class SignedToken
  def self.generate(options)
    now = Time.now.to_i
    claims = {
      iss: 'https://doorkeeper.example', iat: now, exp: now + options[:expires_in], jti: SecureRandom.uuid,
      client_id: options[:application].uid, scope: options[:scopes].to_s
    }
    JWT.encode(claims, KEY, 'RS256', { kid: 'doorkeeper', typ: 'JWT' })
  end
end

class Provider < Rails::Application
  config.eager_load = false
  config.secret_key_base = SecureRandom.hex
  config.logger = Logger.new(nil)
  config.hosts = nil
  config.consider_all_requests_local = false
end

Doorkeeper.configure do
  orm :active_record
  grant_flows %w[client_credentials]
  default_scopes 'orders:read'
  optional_scopes 'orders:write', 'jwt'
  access_token_expires_in 600
  allow_token_introspection { |_token, client, _own| client&.uid == 'orders-api' }
  access_token_generator '::SignedToken' if ARGV.include?('jwt')
end

ActiveRecord::Base.establish_connection(adapter: 'sqlite3', database: ':memory:', pool: 1)
ActiveRecord::Migration.verbose = false
ActiveRecord::Schema.define do
  create_table(:oauth_applications) do |t|
    t.string :name, :uid, :secret, null: false
    t.text :redirect_uri
    t.string :scopes, null: false, default: ''
    t.boolean :confidential, null: false, default: true
    t.timestamps null: false
  end
  create_table(:oauth_access_tokens) do |t|
    t.references :resource_owner
    t.references :application
    t.text :token, null: false
    t.string :refresh_token, :scopes
    t.string :previous_refresh_token, null: false, default: ''
    t.integer :expires_in
    t.datetime :revoked_at
    t.datetime :created_at, null: false
  end
  create_table(:oauth_access_grants) do |t|
    t.references :resource_owner, :application
    t.string :token, :scopes
    t.integer :expires_in
    t.text :redirect_uri
    t.datetime :created_at, :revoked_at
  end
end

Provider.initialize!
Rails.application.routes.draw { use_doorkeeper { skip_controllers :applications, :authorized_applications, :authorizations } }
%w[client orders-api].each do |uid|
  secret = uid == 'client' ? 'client-secret' : 'orders-secret'
  Doorkeeper::Application.create!(name: uid, uid: uid, secret: secret, redirect_uri: 'urn:ietf:wg:oauth:2.0:oob')
end

keys = [200, { 'content-type' => 'application/json' }, [{ keys: [JWT::JWK.new(KEY, kid: 'doorkeeper').export.merge(alg: 'RS256')] }.to_json]]
# The database lives as long as its connection, which all requests share.
app = lambda do |env|
  env['PATH_INFO'] == '/keys' ? keys : Provider.call(env)
ensure
  ActiveRecord::Base.clear_active_connections!
end
ActiveRecord::Base.clear_active_connections!
server = WEBrick::HTTPServer.new(Port: 0, BindAddress: '127.0.0.1', Logger: WEBrick::Log.new(nil, 0), AccessLog: [])
server.mount('/', Rack::Handler::WEBrick, app)
$stdout.puts server.config[:Port]
$stdout.flush
server.start
