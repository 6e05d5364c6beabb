import com.nimbusds.jose.*;
import com.nimbusds.jose.crypto.*;
import com.nimbusds.jose.jwk.*;
import com.nimbusds.jose.util.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** nimbus-jose-jwt as a peer of JOSE: a JSON object with a list of requests on stdin, the answers on stdout. */
class NimbusPeer {
    public static void main(String[] arguments) throws Exception {
        String text = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        List<Object> answers = new ArrayList<>();
        for (Object request : (List<Object>) JSONObjectUtils.parse(text).get("requests")) {
            answers.add(answer((Map<String, Object>) request));
        }
        System.out.println(JSONObjectUtils.toJSONString(Map.of("answers", answers)));
    }

    static Object answer(Map<String, Object> request) {
        try {
            return run(request);
        } catch (Exception refused) {
            System.err.println(refused);
            return false;
        }
    }

    static Object run(Map<String, Object> request) throws Exception {
        JWK key = JWK.parse((Map<String, Object>) request.get("key"));
        String text = (String) request.get("text");
        boolean detached = Boolean.TRUE.equals(request.get("detached"));
        Map<String, Object> header = (Map<String, Object>) request.get("header");
        switch ((String) request.get("operation")) {
            case "sign": {
                JWSObject token = new JWSObject(JWSHeader.parse(header), new Payload(text));
                token.sign(key instanceof RSAKey rsa ? new RSASSASigner(rsa) : new ECDSASigner((ECKey) key));
                return token.serialize(detached);
            }
            case "verify": {
                String token = (String) request.get("token");
                JWSObject read = detached ? JWSObject.parse(token, new Payload(text)) : JWSObject.parse(token);
                Set<String> known = Set.of("b64");
                JWSVerifier verifier = key instanceof RSAKey rsa
                    ? new RSASSAVerifier(rsa.toRSAPublicKey(), known)
                    : new ECDSAVerifier(((ECKey) key).toECPublicKey(), known);
                return read.verify(verifier) ? read.getPayload().toString() : false;
            }
            case "encrypt": {
                JWEObject token = new JWEObject(JWEHeader.parse(header), new Payload(text));
                token.encrypt(new RSAEncrypter((RSAKey) key));
                return token.serialize();
            }
            default: {
                JWEObject token = JWEObject.parse((String) request.get("token"));
                token.decrypt(new RSADecrypter((RSAKey) key));
                return token.getPayload().toString();
            }
        }
    }
}
