require 'oauth2'
require 'uri'

uri = URI(ENV.fetch('TOKEN_ENDPOINT'))
client = OAuth2::Client.new(
  ENV.fetch('CLIENT_ID'),
  ENV.fetch('CLIENT_SECRET'),
  site: "#{uri.scheme}://#{uri.host}:#{uri.port}",
  token_url: uri.request_uri,
  auth_scheme: ARGV[0] == 'basic' ? :basic_auth : :request_body
)
print client.client_credentials.get_token.token
