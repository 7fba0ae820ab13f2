// A self-signed certificate for screener.example and its key, created with:
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 \
//     -subj '/CN=Countersign test certificate' -addext 'subjectAltName=DNS:screener.example' \
//     -addext 'basicConstraints=critical,CA:TRUE'

export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBwTCCAWigAwIBAgIUZgIYHUbr7W7g1zJ6tBrUFMzIQHYwCgYIKoZIzj0EAwIw
JzElMCMGA1UEAwwcQ291bnRlcnNpZ24gdGVzdCBjZXJ0aWZpY2F0ZTAgFw0yNjEx
MjAxMjAwMDJaGA8yMTI2MTAyNzEyMDAwMlowJzElMCMGA1UEAwwcQ291bnRlcnNp
Z24gdGVzdCBjZXJ0aWZpY2F0ZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM2J
e4el5e9ktYoxLFktPXGQJ+X00XfkkPsdjr9kS58k2AoIIiJjAn6TDKaN8APfvZ+w
LZslQZ/exSptw04VKJSjcDBuMB0GA1UdDgQWBBQj9ytN1m7WioHchqteOMzS2M8u
tzAfBgNVHSMEGDAWgBQj9ytN1m7WioHchqteOMzS2M8utzAbBgNVHREEFDASghBz
Y3JlZW5lci5leGFtcGxlMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAw
RAIgHz+ZtQdHPMLbft6bA+a91eBClcUEvCmPqyEkujmjpXECIDuK3cFIkRQQL5p4
xL4cY9QgGkCQ3uijtCMOfEuhyHM3
-----END CERTIFICATE-----
`

export const TEST_CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgG7Vql6dztcRcd/Mv
PIBp3h87QWKujUy1n0OPeBFSmuahRANCAATNiXuHpeXvZLWKMSxZLT1xkCfl9NF3
5JD7HY6/ZEufJNgKCCIiYwJ+kwymjfAD372fsC2bJUGf3sUqbcNOFSiU
-----END PRIVATE KEY-----
`
