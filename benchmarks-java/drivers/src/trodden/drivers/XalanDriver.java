package trodden.drivers;

import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** XSLT by Xalan's interpreter: sorting, keys, recursion, conditions over a generated document. */
final class XalanDriver extends Driver {
    private static final int ITEMS = 1000;
    private static final int ROUNDS = 12;
    private static final String STYLE = """
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
            <xsl:output method="html"/>
            <xsl:key name="by-group" match="item" use="@group"/>
            <xsl:template match="/list">
            <html><body><xsl:apply-templates select="item[not(@group = preceding-sibling::item[1]/@group)]">
            <xsl:sort select="@weight" data-type="number"/><xsl:sort select="name"/></xsl:apply-templates></body></html>
            </xsl:template>
            <xsl:template match="item"><p class="{@group}"><xsl:value-of select="translate(name, 'aeiou', 'AEIOU')"/>:
            <xsl:value-of select="count(key('by-group', @group))"/>
            <xsl:choose><xsl:when test="@weight &gt; 900"><b>heavy</b></xsl:when>
            <xsl:when test="contains(name, 'x')"><i>x</i></xsl:when><xsl:otherwise>plain</xsl:otherwise></xsl:choose>
            <xsl:call-template name="stars"><xsl:with-param name="n" select="@weight mod 9"/></xsl:call-template></p>
            </xsl:template>
            <xsl:template name="stars"><xsl:param name="n"/><xsl:if test="$n &gt; 0">*<xsl:call-template name="stars">
            <xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>
            </xsl:stylesheet>
            """;
    private Templates style;
    private String document;

    public static void main(String[] args) throws Exception {
        new XalanDriver().drive(args);
    }

    @Override
    String name() {
        return "xalan";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        TransformerFactory factory = TransformerFactory.newInstance("org.apache.xalan.processor.TransformerFactoryImpl", null);
        style = factory.newTemplates(new StreamSource(new StringReader(STYLE)));
        Random random = new Random(42);
        StringBuilder text = new StringBuilder("<list>");
        for (int item = 0; item < ITEMS; item++) {
            text.append("<item group='g").append(random.nextInt(50)).append("' weight='").append(random.nextInt(1000))
                    .append("'><name>").append(Integer.toString(random.nextInt(1 << 30), 36)).append("</name></item>");
        }
        document = text.append("</list>").toString();
    }

    @Override
    void iterate() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            StringWriter out = new StringWriter();
            style.newTransformer().transform(new StreamSource(new StringReader(document)), new StreamResult(out));
            require(out.toString().contains("<b>heavy</b>"), "the page is not complete");
            add(out.toString());
        }
    }
}
