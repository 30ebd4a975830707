use strict;
use warnings;
use LWP::UserAgent;

my ($method) = @ARGV;
my ($url, $id, $secret) = @ENV{qw(TOKEN_ENDPOINT CLIENT_ID CLIENT_SECRET)};
my $agent = LWP::UserAgent->new;
my $response;
if ($method eq 'basic') {
    my $request = HTTP::Request->new(POST => $url);
    $request->authorization_basic($id, $secret);
    $response = $agent->request($request);
} else {
    $response = $agent->post($url, { client_id => $id, client_secret => $secret });
}
die $response->status_line . "\n" unless $response->is_success;
print $response->decoded_content =~ /"access_token":"([^"]+)"/;
