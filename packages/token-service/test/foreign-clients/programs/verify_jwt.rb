# Prints, for each JWT in the arguments, whether Ruby's jwt accepts it.
require 'jwt'
require 'json'
require 'net/http'

options = {
  algorithms: ['ES256'],
  jwks: JSON.parse(Net::HTTP.get(URI(ENV['JWKS_URI'])), symbolize_names: true),
  iss: ENV['ISSUER'], verify_iss: true,
  aud: ENV['AUDIENCE'], verify_aud: true,
}
ARGV.each do |token|
  JWT.decode(token, nil, true, options)
  puts 'valid'
rescue JWT::DecodeError
  puts 'rejected'
end
